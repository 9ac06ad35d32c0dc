#!/bin/bash
# A campaign on the nodes of one job: scheduler and manager on the first, a worker on each.
#   sbatch slurm.sh campaign.toml
# The folder of the certificates, and what the campaign names, are on a disk that all nodes see.
#SBATCH --job-name=fuzzwise
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --time=04:00:00
#SBATCH --signal=B:TERM@180
set -euo pipefail

campaign=${1:?usage: sbatch slurm.sh CAMPAIGN.toml}
certificates=${FUZZWISE_CERTIFICATES:-$HOME/fuzzwise-certificates}
port=${FUZZWISE_PORT:-8786}
address=tls://$(hostname -f):$port
# A disk of the node itself: what matters goes to the campaign's storage after each turn.
work=${FUZZWISE_WORK:-${TMPDIR:-/tmp}/fuzzwise-$SLURM_JOB_ID}

fuzzwise fleet scheduler --host 0.0.0.0 --port "$port" --certificates "$certificates" &
scheduler=$!

srun --ntasks="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1 --overlap --kill-on-bad-exit=0 \
    fuzzwise worker "$address" --work "$work" --certificates "$certificates" \
    --cores "$SLURM_CPUS_PER_TASK" --label "job=$SLURM_JOB_ID" &
workers=$!

end() {
    kill "$workers" "$scheduler" 2>/dev/null || true
    wait "$workers" "$scheduler" 2>/dev/null || true
}
trap end EXIT

# Shortly before the job's time is over, Slurm sends TERM to this shell: the manager ends, and keeps everything.
fuzzwise run "$campaign" --fleet "$address" --certificates "$certificates" --quiet &
manager=$!
trap 'kill -TERM "$manager" 2>/dev/null || true' TERM
# The first wait ends with the signal, the second with the manager.
code=0
wait "$manager" || code=$?
if kill -0 "$manager" 2>/dev/null; then
    code=0
    wait "$manager" || code=$?
fi
exit "$code"
