#!/usr/bin/env bash
# Installs kubeproof from the action's own checkout into a virtual environment, and puts it on the PATH of the job.
set -euo pipefail

venv="${RUNNER_TEMP:?}/kubeproof"
extra=""
[ "${INPUT_FIX:-false}" != true ] || extra="[fix]"
"${KUBEPROOF_PYTHON:-python3}" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check "${GITHUB_ACTION_PATH:?}$extra"
echo "$venv/bin" >>"${GITHUB_PATH:?}"
"$venv/bin/kubeproof" --version
