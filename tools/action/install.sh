#!/usr/bin/env bash
# Installs kubeproof from the action's own checkout into a virtual environment, and puts it on the PATH of the job.
# What it needs comes in exact versions whose hashes are checked; nothing else is fetched, not even to build it.
set -euo pipefail

venv="${RUNNER_TEMP:?}/kubeproof"
action="${GITHUB_ACTION_PATH:?}"
install=("$venv/bin/python" -m pip install --quiet --disable-pip-version-check)
"${KUBEPROOF_PYTHON:-python3}" -m venv "$venv"
"${install[@]}" --require-hashes --only-binary :all: -r "$action/tools/action/requirements.txt"
"${install[@]}" --no-deps --no-build-isolation "$action"
echo "$venv/bin" >>"${GITHUB_PATH:?}"
"$venv/bin/kubeproof" --version
