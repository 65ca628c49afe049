#!/usr/bin/env bash
# Runs the commands of the Dockerfile without an engine: packs the program, runs the RUN lines of its first stage
# in a clean folder, then its ENTRYPOINT and CMD there, as a user without rights, on a file system that is
# read-only but for the data. Needs root for the last part; says so, and leaves it out, otherwise. Has the
# other files of a deployment judged by the tools that are there.
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD
image=$(mktemp -d)
trap 'rm -rf "$image"' EXIT
program=$image/program
mkdir -p "$program" "$image/data" "$image/etc"

npm run -s build
npm pack ./package --silent --pack-destination "$program" >/dev/null
packed=$(du -k "$program"/trackport-*.tgz | cut -f1)
awk '/^FROM/ {stage++} stage == 1 && /^RUN/' Dockerfile | while read -r _ command; do
  (cd "$program" && sh -c "$command" >/dev/null)
done
echo "built: $(du -sm "$program" | cut -f1) MB from a package of $packed KB"

node=$(command -v "$here/node_modules/.bin/node" || command -v node)
port=$((20000 + RANDOM % 20000))
printf '{ tracker: { repository: acme/leads, auth: { token: none }, apiUrl: "http://127.0.0.1:9" } }\n' \
  >"$image/etc/trackport.yaml"
start=("$program/node_modules/.bin/trackport" serve --config "$image/etc/trackport.yaml")
environment=(NODE_ENV=production TRACKPORT_SERVER_HOST=127.0.0.1 "TRACKPORT_SERVER_PORT=$port"
  "TRACKPORT_STORE_URL=sqlite:$image/data/trackport.db" "PATH=$(dirname "$node"):/usr/bin:/bin" HOME=/nonexistent)

if [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null; then
  chown nobody "$image/data"
  chmod 755 "$image"
  unshare --mount --propagation private sh -c '
    data=$1; program=$2; shift 2
    mount --bind "$data" "$data"
    mount -o remount,ro,bind / 2>/dev/null || { mount --bind / / && mount -o remount,ro,bind /; }
    cd "$program"
    touch probe 2>/dev/null && { echo "the file system can be written"; exit 9; }
    exec setpriv --reuid=nobody --regid=nogroup --clear-groups --no-new-privs env -i "$@"
  ' sh "$image/data" "$program" "${environment[@]}" "${start[@]}" >"$image/log" 2>&1 &
  how='as nobody, on a read-only file system'
else
  (cd "$program" && exec env -i "${environment[@]}" "${start[@]}") >"$image/log" 2>&1 &
  how='as this user: the read-only part needs root'
fi
service=$!
for _ in $(seq 100); do
  curl -sf "http://127.0.0.1:$port/healthz" >/dev/null && break
  kill -0 $service 2>/dev/null || break
  sleep 0.1
done
status=$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/readyz" || true)
kill -TERM $service 2>/dev/null || true
code=0
wait $service || code=$?
if [ "$status" != 200 ] || [ "$code" != 0 ]; then
  cat "$image/log"
  echo "the image does not run: /readyz $status, exit code $code"
  exit 1
fi
echo "ran $how: /readyz 200, stopped with exit code 0"

judge() {
  local file=$1 tool=$2
  shift 2
  if $tool >/dev/null 2>&1; then
    "$@" && echo "$file: taken by ${tool% *}"
  else
    echo "$file: not checked, for there is no ${tool% *}"
  fi
}
judge deploy/trackport.service 'systemd-analyze --version' systemd-analyze verify --man=no deploy/trackport.service
judge compose.yaml 'docker compose version' docker compose --file compose.yaml config --quiet
judge deploy/compose/Caddyfile 'caddy version' \
  caddy validate --adapter caddyfile --config deploy/compose/Caddyfile
