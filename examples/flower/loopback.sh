#!/usr/bin/env bash
# A SuperLink and four SuperNodes on this machine, over TLS: what a hospital network would run on five machines.
# Needs Flower, Tacita's package and openssl. Everything is written below runs/loopback.
#
#   ./loopback.sh start          certificates, the SuperLink, four SuperNodes
#   ./loopback.sh run            submits the app and shows its log; again after a failure, it resumes
#   ./loopback.sh kill-node 2    kills a hospital
#   ./loopback.sh kill-server    kills the server's app, as a crash would
#   ./loopback.sh stop
set -euo pipefail
cd "$(dirname "$0")"
work="$PWD/runs/loopback"
mkdir -p "$work"
export FLWR_HOME="$work/flwr" FLWR_TELEMETRY_ENABLED=0
port=8000

certificates() {
  [ -e "$work/server.pem" ] && return
  openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj "/CN=loopback" \
    -keyout "$work/ca.key" -out "$work/ca.crt" 2>/dev/null
  openssl req -newkey rsa:2048 -nodes -subj "/CN=localhost" \
    -keyout "$work/server.key" -out "$work/server.csr" 2>/dev/null
  openssl x509 -req -in "$work/server.csr" -CA "$work/ca.crt" -CAkey "$work/ca.key" -CAcreateserial -days 30 \
    -extfile <(echo "subjectAltName=DNS:localhost,IP:127.0.0.1") -out "$work/server.pem" 2>/dev/null
}

# begin NAME COMMAND...: runs in the background, in a process group of its own.
begin() {
  local name="$1"
  shift
  setsid "$@" >"$work/$name.log" 2>&1 &
  echo $! >"$work/$name.pid"
}

end() {
  local pid
  pid="$(cat "$work/$1.pid" 2>/dev/null)" || return 0
  kill -KILL -- "-$pid" 2>/dev/null || true
  rm -f "$work/$1.pid"
}

node() {
  begin "node-$1" flower-supernode --superlink "127.0.0.1:$port" --root-certificates "$work/ca.crt" \
    --ssl-ca-certfile "$work/ca.crt" --ssl-certfile "$work/server.pem" --ssl-keyfile "$work/server.key" \
    --port "$((9100 + $1))" --node-config "partition-id=$1"
}

case "${1:-}" in
  start)
    certificates
    mkdir -p "$FLWR_HOME"
    printf '[superlink]\ndefault = "loopback"\n[superlink.loopback]\naddress = "127.0.0.1:%s"\nroot-certificates = "%s"\n' \
      "$port" "$work/ca.crt" >"$FLWR_HOME/config.toml"
    begin superlink flower-superlink --ssl-ca-certfile "$work/ca.crt" --ssl-certfile "$work/server.pem" \
      --ssl-keyfile "$work/server.key" --port "$port" --disable-runtime-dependency-installation
    until grep -q "running on" "$work/superlink.log"; do sleep 1; done
    for number in 0 1 2 3; do node "$number"; done
    for number in 0 1 2 3; do
      until grep -q "SuperNode ID" "$work/node-$number.log"; do sleep 1; done
    done
    echo "a SuperLink and four SuperNodes are connected"
    ;;
  run)
    # The app runs in the SuperLink's folder of apps, so its own folder is named in full.
    flwr run . loopback --stream --run-config "folder=\"$work/federation\" ${*:2}"
    ;;
  node) node "$2" ;;
  kill-node) end "node-$2" ;;
  kill-server) pkill -KILL -g "$(cat "$work/superlink.pid")" -f flwr-serverapp ;;
  stop) for name in node-0 node-1 node-2 node-3 superlink; do end "$name"; done ;;
  *) sed -n '2,10p' "$0" && exit 1 ;;
esac
