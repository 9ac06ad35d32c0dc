"""What a reader of a report needs who has nothing but the page: stack, input, command, paths."""

from __future__ import annotations

import base64
import os
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from campaign_states import example_state
from fuzzwise.report.campaign import markdown as campaign_markdown
from fuzzwise.report.campaign import page as campaign_page
from fuzzwise.report.campaign.bug_articles import MOST_EMBEDDED, articles
from fuzzwise.report.campaign.charts import bugs_chart
from fuzzwise.report.hex_dump import hex_dump
from fuzzwise.report.hindsight import Hindsight
from fuzzwise.report.reproducing import portable_command
from fuzzwise.report.sarif import document, findings_of_campaign
from fuzzwise.report.source_paths import SourcePaths
from fuzzwise.report.stacks import own_names, shown_frames, without_fuzzer
from fuzzwise.store.states import BugState, CampaignState

REPORT = """\
==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60300003f03f at pc 0x1 bp 0x2 sp 0x3
READ of size 1 at 0x60300003f03f thread T0
    #0 0x1 in __interceptor_memcpy (/home/you/camp/programs/markup+0x1)
    #1 0x2 in close_all /home/you/markup/src/tags.c:51:10
    #2 0x3 in LLVMFuzzerTestOneInput /home/you/markup/fuzz/markup.c:138:31
    #3 0x4 in one_input /opt/lib/site-packages/fuzzwise/engines/libfuzzer/native/observer.c:152:16
    #4 0x5 in fuzzer::Fuzzer::ExecuteCallback(unsigned char const*, unsigned long) (/x/markup+0x1)
    #5 0x6 in main /opt/lib/site-packages/fuzzwise/engines/libfuzzer/native/main.c:8:10
    #6 0x7 in __libc_start_main (/lib/x86_64-linux-gnu/libc.so.6+0x27304)

SUMMARY: AddressSanitizer: heap-buffer-overflow /home/you/markup/src/tags.c:51:10 in close_all
"""
FILES = ("/home/you/markup/src/tags.c", "/home/you/markup/fuzz/markup.c")


def with_bug(folder: Path, **changes: object) -> tuple[CampaignState, BugState]:
    """A campaign that is over, with one bug, whose files are there."""
    state = example_state(2, folder=folder, running=False, hostile=False)
    home = "targets/markup/crashes/1d"
    bug = replace(
        state.bugs[0],
        frames=("close_all", "LLVMFuzzerTestOneInput", "one_input"),
        file=FILES[0],
        line=51,
        report=f"{home}/report.txt",
        inputs=(f"{home}/crash-1", f"{home}/crash-2"),
        command=f"{folder}/programs/markup {folder}/{home}/crash-1",
    )
    bug = replace(bug, **changes)  # type: ignore[arg-type]
    (folder / home).mkdir(parents=True)
    (folder / home / "report.txt").write_text(REPORT.replace("/home/you/camp", str(folder)))
    (folder / home / "crash-1").write_bytes(bytes(range(60)))
    return replace(state, bugs=(bug,)), bug


def page_of(state: CampaignState) -> str:
    return campaign_page.page(state, (), ())


def test_a_stack_has_files_and_lines_and_no_call_of_a_fuzzer() -> None:
    paths = SourcePaths(Path("/camp"), FILES)
    shown = [(f.function, f.place) for f in shown_frames(REPORT, ("close_all",), paths)]
    assert shown == [
        ("close_all", "src/tags.c:51"),
        ("LLVMFuzzerTestOneInput", "fuzz/markup.c:138"),
    ]
    text = without_fuzzer(REPORT)
    for word in ("fuzzer::", "one_input", "fuzzwise"):
        assert word not in text
    assert text.count("calls of the fuzzer are left out") == 1
    assert "close_all /home" in text


def test_a_stack_in_which_the_harness_is_inlined_has_no_call_of_a_fuzzer_either() -> None:
    inlined = REPORT.replace("in LLVMFuzzerTestOneInput", "in read_markup")
    shown = shown_frames(inlined, ("close_all",), SourcePaths(Path("/camp"), FILES))
    assert [f.function for f in shown] == ["close_all", "read_markup"]


def test_a_stack_of_python_ends_where_the_harness_is_called() -> None:
    names = ("rules.month", "rules.TestOneInput", "atheris.Fuzz")
    assert own_names(names) == names[:2]
    assert own_names(("f", "main")) == ("f", "main")


def test_what_a_fuzzer_interrupted_is_still_shown() -> None:
    alarm = "    #1 0x1 in fuzzer::Fuzzer::AlarmCallback() (/x/loop+0x1)\n"
    report = (
        "ERROR: libFuzzer: timeout after 2 seconds\n"
        f"    #0 0x1 in __sanitizer_print (/x/loop+0x1)\n{alarm}"
        "    #2 0x1 in spin /home/you/loop.c:3\n"
        "    #3 0x1 in LLVMFuzzerTestOneInput /home/you/loop.c:9\n"
    )
    assert "spin /home/you/loop.c:3" in without_fuzzer(report)
    frames = shown_frames(report, ("spin",), SourcePaths(Path("/camp")))
    assert [f.function for f in frames][-2:] == ["spin", "LLVMFuzzerTestOneInput"]
    assert not [f for f in frames if "fuzzer::" in f.function]


def test_a_traceback_has_no_call_of_the_runner() -> None:
    ours = '  File "/x/fuzzwise/engines/python/inside.py", line 7, in one_input'
    text = f'Traceback:\n{ours}\n    self.call(data)\n    ~~~~\n  File "rules.py", line 3, in day\n'
    shown = without_fuzzer(f"{text}    1 / 0\nZeroDivisionError: no\n")
    assert "inside.py" not in shown
    assert "self.call" not in shown
    assert shown.endswith('  File "rules.py", line 3, in day\n    1 / 0\nZeroDivisionError: no\n')


def test_without_a_report_the_names_are_shown() -> None:
    names = ("f", "LLVMFuzzerTestOneInput", "one_input")
    frames = shown_frames("", names, SourcePaths(Path("/camp")))
    assert [f.function for f in frames] == list(names[:2])


def test_paths_are_those_of_the_campaign_and_of_the_sources(tmp_path: Path) -> None:
    (tmp_path / "tree" / ".git").mkdir(parents=True)
    folder = tmp_path / "camp"
    paths = SourcePaths(folder, FILES)
    assert paths(f"{folder}/programs/markup") == "programs/markup"
    assert paths(f"{tmp_path}/tree/src/a.c") == "src/a.c"
    assert paths(FILES[0]) == "src/tags.c"
    assert paths("/usr/include/string.h") == "/usr/include/string.h"
    assert paths("/x/lib/python3/site-packages/yaml/reader.py") == "site-packages/yaml/reader.py"
    assert paths("src/a.c") == "src/a.c"
    assert paths("") == ""
    assert paths(str(Path.cwd() / "here.c")) == "here.c" or (Path.cwd() / ".git").exists()
    said = paths.in_text(f"in f {FILES[0]}:51:10 (/usr/lib/libc.so+0x1) a/b //x 1/2")
    assert said == "in f src/tags.c:51:10 (/usr/lib/libc.so+0x1) a/b //x 1/2"


def test_a_short_input_is_shown_whole_and_of_a_long_one_the_head() -> None:
    lines = hex_dump(b"LZ?\x08" + bytes(range(200, 216))).split("\n")
    assert lines[0] == "00000000  4c 5a 3f 08 c8 c9 ca cb cc cd ce cf d0 d1 d2 d3  LZ?............."
    assert lines[1].split() == ["00000010", "d4", "d5", "d6", "d7", "...."]
    assert len(lines) == 2
    assert len(hex_dump(bytes(256)).split("\n")) == 16
    long = hex_dump(bytes(300), 70_000).split("\n")
    assert long[-1] == "… 69,872 more bytes"
    assert len(long) == 9
    assert hex_dump(b"") == ""


def test_the_page_has_the_input_itself_and_the_command(tmp_path: Path) -> None:
    state, bug = with_bug(tmp_path)
    text = page_of(state)
    (link,) = re.findall(r'<a download="([^"]+)" href="data:[^,]+,([^"]+)"', text)
    assert link[0] == "crash-1"
    assert base64.b64decode(link[1]) == bytes(range(60))
    assert "00000030  30 31 32" in text
    assert "\n00000010  10" in text, "its lines are lines"
    assert "<code>./markup crash-1</code>" in text
    assert "src/tags.c:51" in text
    assert bug.inputs[1] in text


def test_a_large_input_is_named_and_not_embedded(tmp_path: Path) -> None:
    state, bug = with_bug(tmp_path)
    (tmp_path / bug.inputs[0]).write_bytes(bytes(MOST_EMBEDDED + 1))
    text = page_of(state)
    assert "data:" not in text
    assert "65,537 bytes; it is in the campaign" in text
    assert f"<code>{bug.inputs[0]}</code>" in text


def test_all_inputs_of_a_page_are_not_too_much_for_a_mail(tmp_path: Path) -> None:
    state, bug = with_bug(tmp_path)
    (tmp_path / bug.inputs[0]).write_bytes(bytes(MOST_EMBEDDED))
    made = articles(state, [bug] * 40)
    assert sum(bool(article.link) for article in made) == 16
    assert all(article.dump for article in made)


def test_an_input_that_is_gone_leaves_its_name(tmp_path: Path) -> None:
    state, bug = with_bug(tmp_path)
    (tmp_path / bug.inputs[0]).unlink()
    text = page_of(state)
    assert "data:" not in text
    assert bug.inputs[0] in text


def test_no_path_of_this_machine_is_in_page_markdown_and_sarif(tmp_path: Path) -> None:
    state, _ = with_bug(tmp_path)
    sarif = str(document(findings_of_campaign(state)))
    for text in (page_of(state), campaign_markdown.summary(state), sarif):
        assert str(tmp_path) not in text
        assert "/home/you" not in text
        assert "one_input" not in text
        assert "fuzzwise/engines" not in text
    assert "'uri': 'tags.c'" in sarif or "'uri': 'src/tags.c'" in sarif
    assert "`./markup crash-1`" in campaign_markdown.summary(state)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("{0}/programs/markup {0}/{1}", "./markup crash-1"),
        (
            "/usr/bin/decode --quiet -o '/tmp/an out' {0}/{1}",
            "./decode --quiet -o 'an out' crash-1",
        ),
        ("{0}/programs/reads < {0}/{1}", "./reads < crash-1"),
        ("decode --input={0}/{1}", "decode --input=crash-1"),
        ("build/png {1}", "./png crash-1"),
        ("an 'open quote", ""),
        ("", ""),
    ],
)
def test_the_command_is_one_for_any_machine(command: str, said: str, tmp_path: Path) -> None:
    state, bug = with_bug(tmp_path)
    line = command.format(tmp_path, bug.inputs[0])
    assert portable_command(state, replace(bug, command=line)) == said


def test_a_python_bug_shows_with_python_alone(tmp_path: Path) -> None:
    harness = tmp_path / "my-rules.py"
    harness.write_text("def TestOneInput(data):\n    raise ValueError(len(data))\n")
    runner = "/x/site-packages/fuzzwise/engines/python/runner.py"
    state, bug = with_bug(tmp_path)
    path = tmp_path / bug.inputs[0]
    line = shlex.join(["/venv/bin/python", runner, str(harness), str(path)])
    made = portable_command(state, replace(bug, command=line))
    assert "fuzzwise" not in made
    (tmp_path / "crash-1").write_bytes(path.read_bytes())
    words = [sys.executable, *shlex.split(made)[1:]]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "ValueError: 60" in done.stderr
    harness.write_text("import atheris\natheris.Setup([], print)\natheris.Fuzz()\n")
    script = portable_command(state, replace(bug, command=line))
    assert script == "python3 my-rules.py crash-1"


def test_a_campaign_that_is_over_waits_for_nothing(tmp_path: Path) -> None:
    state = example_state(8, folder=tmp_path, running=False)
    for text in (page_of(state), campaign_markdown.summary(state)):
        words = re.sub("<[^>]+>", " ", text.partition("</style>")[2] or text)
        assert "waiting" not in words
        assert "stopped" in words
        assert "time left" not in words
    assert "waiting</span>" in page_of(example_state(8, folder=tmp_path))


WITHOUT = ("altair", "vl_convert", "polars", "pyarrow", "numba", "pandas")
"""What a plain `pip install fuzzwise` does not bring."""
SCRIPT = """
import sys
for name in sys.argv[1].split(","):
    sys.modules[name] = None
from pathlib import Path
from campaign_states import example_state, example_history
from fuzzwise.store.contract import BugTime
from fuzzwise.report.campaign import markdown, page
from fuzzwise.report.sarif import document, findings_of_campaign

state = example_state(3, folder=Path("."), running=False)
times = [BugTime(b.target, b.id, b.at, b.after_inputs, b.after_seconds) for b in state.bugs]
print(page.page(state, example_history(state), times))
markdown.summary(state)
document(findings_of_campaign(state))
"""


def test_without_extras_there_is_a_page_that_names_what_would_draw_its_charts() -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    words = [sys.executable, "-c", SCRIPT, ",".join(WITHOUT)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "<svg" not in done.stdout
    assert "Here would be charts" in done.stdout
    assert "pip install &#39;fuzzwise[lab]&#39;" in done.stdout
    assert "parse_png_0" in done.stdout


def test_what_the_page_needs_is_no_extra() -> None:
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    plain, _, extras = text.partition("[project.optional-dependencies]")
    assert '"jinja2' in plain
    assert '"jinja2' not in extras


def test_time_axes_are_plain() -> None:
    seen = Hindsight(np.array([0, 9.0, 60.0]), np.array([0, 5.0, 20.0]), 80.0, True)
    labels = re.findall(r">([^<>]+)</text>", bugs_chart(seen))
    assert "time on cores (seconds)" in labels
    assert "20" in labels
    assert not [label for label in labels if re.search(r"\d[eE][+-]?\d|19[67]0", label)]
