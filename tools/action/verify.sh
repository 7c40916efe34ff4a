#!/usr/bin/env bash
# Verifies, writes reports beside each other, and tells the job what came out. Ends with kubeproof's exit code.
set -uo pipefail

reports="${RUNNER_TEMP:?}/kubeproof-reports"
rm -rf "$reports"
mkdir -p "$reports"

# One word per line; what looks like an option in `paths` stays a path.
words=()
while IFS= read -r line; do
    [ -z "$line" ] || words+=("$line")
done <<<"${INPUT_ARGS:-}"
words+=(--timeout "${INPUT_TIMEOUT:-300}" --fail-on "${INPUT_FAIL_ON:-info}" --color never --progress never)
[ -z "${INPUT_BASELINE:-}" ] || words+=(--baseline "$INPUT_BASELINE")
[ "${INPUT_SOFT_FAIL:-false}" != true ] || words+=(--soft-fail)
words+=(-o "json=$reports/kubeproof.json" -o "sarif=$reports/kubeproof.sarif" -o "markdown=$reports/kubeproof.md")
words+=(-o "text=$reports/kubeproof.txt" -o "junit=$reports/kubeproof.xml")
[ "${INPUT_ANNOTATIONS:-true}" != true ] || words+=(-o github)
words+=(--)
while IFS= read -r line; do
    [ -z "$line" ] || words+=("$line")
done <<<"${INPUT_PATHS:-}"

kubeproof verify "${words[@]}" 2>"$reports/stderr.txt"
code=$?

# What is printed comes from manifests: commands in it are not for the runner.
token="kubeproof-$RANDOM$RANDOM$RANDOM"
printed() {
    [ -s "$1" ] || return 0
    echo "::stop-commands::$token"
    cat "$1"
    echo "::$token::"
}
printed "$reports/stderr.txt"
if [ -s "$reports/kubeproof.txt" ]; then
    printed "$reports/kubeproof.txt"
    verdict=$(tail -n 1 "$reports/kubeproof.txt" | grep -oE '^[A-Z-]+' || true)
    cat "$reports/kubeproof.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
    {
        echo "verdict=$verdict"
        echo "sarif=$reports/kubeproof.sarif"
        echo "json=$reports/kubeproof.json"
    } >>"${GITHUB_OUTPUT:-/dev/null}"
fi
# A change that is proved to help, for the paths alone: options of verify are not those of fix.
if [ "${INPUT_FIX:-false}" = true ] && [ "$code" = 1 ]; then
    paths=()
    while IFS= read -r line; do
        [ -z "$line" ] || paths+=("$line")
    done <<<"${INPUT_PATHS:-}"
    formats=(-o "diff=$reports/repair.diff" -o "markdown=$reports/repair.md" -o "text=$reports/repair.txt")
    formats+=(-o "review=$reports/review.json")
    [ "${INPUT_ANNOTATIONS:-true}" != true ] || formats+=(-o github)
    kubeproof fix --proposals 1 --timeout "${INPUT_TIMEOUT:-300}" "${formats[@]}" -- "${paths[@]}" 2>"$reports/fix.txt"
    printed "$reports/fix.txt"
    printed "$reports/repair.txt"
    [ ! -s "$reports/repair.md" ] || cat "$reports/repair.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
    # Suggestions can only stand in lines near those that the pull request changes: elsewhere the API refuses them.
    if [ "${INPUT_SUGGEST:-false}" = true ] && [ -n "${PULL_REQUEST:-}" ] && [ -s "$reports/review.json" ]; then
        gh api --method POST --input "$reports/review.json" --silent \
            "repos/${GITHUB_REPOSITORY:?}/pulls/$PULL_REQUEST/reviews" 2>"$reports/review.txt" ||
            echo "No suggestions: the change is about lines outside of the pull request, or the token may not write it."
        printed "$reports/review.txt"
    fi
    [ ! -s "$reports/repair.diff" ] || echo "repair=$reports/repair.diff" >>"${GITHUB_OUTPUT:-/dev/null}"
fi
echo "exit-code=$code" >>"${GITHUB_OUTPUT:-/dev/null}"
exit "$code"
