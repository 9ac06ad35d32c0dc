"""``fuzzwise report``: a campaign for others to read."""

from __future__ import annotations

from pathlib import Path

import click

from fuzzwise.cli import campaign_output, options
from fuzzwise.errors import BadInput
from fuzzwise.files import write_whole
from fuzzwise.report import lines


@click.command()
@campaign_output.campaign
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the page: one HTML file that needs nothing else.  [default: report.html in the campaign's folder, or here if that is elsewhere]",
)
@click.option(
    "--markdown",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Write a summary for a pull request; - prints it.",
)
@click.option(
    "--sarif",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the bugs as SARIF 2.1.0, for code scanning.",
)
@campaign_output.baseline
@click.option(
    "--share",
    is_flag=True,
    help="Leave out what tells of this machine: its name, users, folders, process numbers, environment.",
)
@options.as_json
def command(
    campaign: str | Path,
    out: Path | None,
    markdown: Path | None,
    sarif: Path | None,
    baseline: Path | None,
    share: bool,
    as_json: bool,
) -> None:
    """Report on a campaign: what is safe to stop, where the time went, what was found.

    CAMPAIGN is the folder of `fuzzwise fuzz` or of `fuzzwise run`, the file of a campaign, or the
    address of its store: postgresql://HOST/DATABASE?campaign=NAME
    Without an option, writes the page. With --markdown, --sarif or --json, writes these; the page
    too if -o is given.
    """
    from fuzzwise.campaign.baseline import new_bugs, read_baseline
    from fuzzwise.campaign.lookup import campaign_place
    from fuzzwise.store.places import open_reader

    reader = open_reader(campaign_place(campaign))
    state = reader.state()
    fresh = new_bugs(state.bugs, read_baseline(baseline)) if baseline else None
    if sarif:
        from fuzzwise.report import sarif as sarif_file

        sarif_file.save(sarif_file.findings_of_campaign(state, share=share), sarif)
    if markdown:
        from fuzzwise.report.campaign.markdown import summary

        text = summary(state, fresh, share=share)
        if str(markdown) == "-":
            click.echo(text, nl=False)
        else:
            _write(markdown, text)
    if as_json:
        campaign_output.print_document(state, reader, fresh, share=share)
    if out or not (sarif or markdown or as_json):
        from fuzzwise.report.campaign.page import page

        path = out or (Path() if state.host else state.folder) / "report.html"
        _write(path, page(state, reader.history(), reader.bug_times(), fresh, share=share))
        lines.say(f"The report is {path}.", err=True)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode())
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror}).") from error
