#!/bin/bash
# Slurm prolog (slurm.conf: Prolog=/etc/slurm/prolog.d/ascend-doctor.sh): a node on which vLLM cannot start takes no job.
#
# Read-only and bounded: files only, at most 10 s. Only a certain failure holds the job back: exit code 1 drains the node with the
# cause as its reason; a doctor that could not do its work (exit code 2 or 3, a time-out) never does.
set -u
PATH=/usr/sbin:/usr/bin:/sbin:/bin:${ASCEND_DOCTOR_BIN:-/opt/ascend-doctor/bin}

report=$(timeout --kill-after=2 10 ascend-doctor check --profile quick --fail-on fail --quiet --only 'driver-*,npu-*,cann-*' </dev/null 2>/dev/null)
code=$?
[ "$code" -eq 1 ] || exit 0

cause=$(printf '%s\n' "$report" | grep -m 1 '^FAIL' | cut -c 1-200)
echo "ascend-doctor: $cause" >&2
scontrol update NodeName="${SLURMD_NODENAME:-$(hostname -s)}" State=DRAIN Reason="ascend-doctor: ${cause//[^[:print:]]/ }"
exit 1
