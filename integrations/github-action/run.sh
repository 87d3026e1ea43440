#!/bin/bash
# The step of action.yml: installs ascend-doctor into a venv of its own, runs it, and hands its reports to the job.
set -euo pipefail

work=${RUNNER_TEMP:-$(mktemp -d)}/ascend-doctor
mkdir -p "$work"
if [ "${DOCTOR_VERSION:-}" = installed ]; then
  doctor=$(command -v ascend-doctor)
else
  python3 -m venv "$work/venv"
  "$work/venv/bin/python" -m pip install -q --disable-pip-version-check "ascend-doctor${DOCTOR_VERSION:-}"
  doctor=$work/venv/bin/ascend-doctor
fi

if [ -n "${DOCTOR_LOGS:-}" ]; then
  shopt -s nullglob globstar
  logs=()
  while IFS= read -r line; do
    line=${line#"${line%%[![:space:]]*}"} line=${line%"${line##*[![:space:]]}"}
    [ -n "$line" ] || continue
    IFS= found=($line) # a glob expands; a name with blanks stays one
    [ "${#found[@]}" -gt 0 ] || { echo "ascend-doctor: no file matches $line" >&2; exit 2; }
    logs+=("${found[@]}")
  done <<<"$DOCTOR_LOGS"
  command=(log "${logs[@]}")
else
  command=(check --profile "${DOCTOR_PROFILE:-ci-image}")
fi

options=(--fail-on "${DOCTOR_FAIL_ON:-fail}" --lang "${DOCTOR_LANG:-en}" --format github)
[ -z "${DOCTOR_BASELINE:-}" ] || options+=(--baseline "$DOCTOR_BASELINE")
[ -z "${DOCTOR_CONFIG:-}" ] || options+=(--config "$DOCTOR_CONFIG")
for report in junit=xml sarif=sarif json=json markdown=md; do
  options+=(--output "${report%=*}=$work/doctor.${report#*=}")
done

code=0
"$doctor" "${command[@]}" "${options[@]}" || code=$?
[ ! -s "$work/doctor.md" ] || cat "$work/doctor.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
{
  echo "junit=$work/doctor.xml"
  echo "sarif=$work/doctor.sarif"
  echo "json=$work/doctor.json"
  echo "exit-code=$code"
} >>"${GITHUB_OUTPUT:-/dev/null}"
exit "$code"
