#!/usr/bin/env bash
# Starts a small S3-compatible store for tests: Ceph with one monitor, one OSD in memory, and one gateway (RGW).
#   apt-get install -y --no-install-recommends radosgw ceph-mon ceph-osd ceph-common
#
#   ceph-rgw.sh start DIR [RGW_PORT=8333] [MON_PORT=8334]   prints the settings of the store as NAME=value lines
#   ceph-rgw.sh outage DIR                                  stops the gateway; `start` starts it again with the same objects
#   ceph-rgw.sh kill DIR                                    the same, without an end of its running requests
#   ceph-rgw.sh pause DIR | continue DIR                    stops and continues its process, with open connections
#   ceph-rgw.sh user DIR NAME                               creates a user, whose access and secret key are NAME and NAME-secret
#   ceph-rgw.sh quota DIR BUCKET BYTES|none                 limits the size of a bucket, from the next request on
#   ceph-rgw.sh stop DIR                                    stops all processes that DIR/run/*.pid name, and removes the data
#
# Runs as root. All ports are on 127.0.0.1, the OSD uses the 16 ports after MON_PORT. Nothing in /etc/ceph or /var/lib/ceph is used.
set -euo pipefail

command=${1:-}
[ -n "$command" ] && [ -n "${2:-}" ] || { sed -n '2,13p' "$0" >&2; exit 64; }
mkdir -p "$2"
dir=$(cd "$2" && pwd -P)
rgw_port=${3:-8333}
mon_port=${4:-8334}
access_key=${S3_ACCESS_KEY:-DEMOACCESSKEY0000001}
secret_key=${S3_SECRET_KEY:-demo-secret-key-for-loopback-tests-0001}
wait_s=60
conf=$dir/ceph.conf
run=$dir/run

fail() { printf 'ceph-rgw: %s\n' "$*" >&2; exit 1; }

# True if the process of the pid file runs. Its command line must name this configuration, because a pid may be reused.
is_running() {
  local pid
  pid=$(cat "$run/$1.pid" 2>/dev/null) || return 1
  [ -r "/proc/$pid/cmdline" ] && tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | grep -qxF -- "$conf"
}
stop_one() {
  local signal
  for signal in TERM KILL; do
    is_running "$1" || break
    kill "-$signal" "$(cat "$run/$1.pid")" 2>/dev/null || true
    for _ in $(seq 50); do is_running "$1" || break; sleep 0.1; done
  done
  rm -f "$run/$1.pid"
}
spawn() {
  local name=$1
  shift
  setsid "$@" </dev/null >>"$dir/log/$name.out" 2>&1 9>&- &
  echo $! >"$run/$name.pid"
}
wait_for() {
  local name=$1 end=$((SECONDS + wait_s))
  shift
  until "$@" >/dev/null 2>&1; do
    # Not `is_running`: a process that was just spawned still has the command line of this script.
    kill -0 "$(cat "$run/$name.pid")" 2>/dev/null && [ $SECONDS -lt $end ] || { tail -n 20 "$dir/log/$name.out" >&2; fail "$name did not start"; }
    sleep 0.1
  done
}
ceph_() { timeout 15 ceph -c "$conf" --connect-timeout 5 "$@"; }
osd_is_up() { ceph_ osd stat | grep -q ' 1 up'; }
rgw_responds() { timeout 3 bash -c "exec 3<>/dev/tcp/127.0.0.1/$rgw_port && printf 'GET / HTTP/1.0\r\n\r\n' >&3 && head -c 4 <&3" | grep -q HTTP; }

write_conf() {
  # `auth none` needs the mode `crc`. `tcp_nodelay` avoids 40 ms for each small response. `gc` frees deleted bytes after seconds.
  # Without `rgw_bucket_quota_ttl`, the gateway may compare a quota with a size of ten minutes ago.
  cat >"$conf" <<CONF
[global]
fsid = $(cat /proc/sys/kernel/random/uuid)
mon_host = v2:127.0.0.1:$mon_port
mon_initial_members = a
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
ms_bind_msgr1 = false
ms_mon_client_mode = crc
ms_bind_port_min = $((mon_port + 1))
ms_bind_port_max = $((mon_port + 16))
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 4
osd_pool_default_pgp_num = 4
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
mon_max_pg_per_osd = 1000
run_dir = $run
admin_socket = $run/\$name.asok
log_file = $dir/log/\$name.log
crash_dir = $dir/crash
debug_none = 0/0
debug_ms = 0
[mon]
paxos_propose_interval = 0.05
paxos_min_wait = 0.01
mon_data = $dir/mon
mon_cluster_log_file = $dir/log/cluster.log
mon_data_avail_warn = 1
mon_data_avail_crit = 0
auth_allow_insecure_global_id_reclaim = false
[osd]
osd_data = $dir/osd
osd_objectstore = memstore
memstore_device_bytes = 8589934592
osd_class_load_list = *
osd_class_default_list = *
[client]
keyring = $dir/none
rgw_frontends = beast endpoint=127.0.0.1:$rgw_port tcp_nodelay=1
rgw_enable_usage_log = false
rgw_thread_pool_size = 64
rgw_override_bucket_index_max_shards = 1
rgw_dynamic_resharding = false
rgw_gc_obj_min_wait = 5
rgw_gc_processor_period = 5
rgw_bucket_quota_ttl = 0
rgw_multipart_min_part_size = ${RGW_MIN_PART_BYTES:-5242880}
CONF
}

start_rgw() {
  spawn rgw radosgw -c "$conf" -n client.rgw.a -f
  wait_for rgw rgw_responds
}

start() {
  [ "$(id -u)" = 0 ] || fail 'must run as root'
  for name in ceph-mon ceph-osd radosgw radosgw-admin ceph; do command -v $name >/dev/null || fail "$name is not installed"; done
  mkdir -p "$dir/log" "$dir/crash" "$run"
  exec 9>"$run/lock"
  flock -w $wait_s 9 || fail 'another start holds the lock'
  if is_running mon && is_running osd; then
    rgw_port=$(sed -n 's/^rgw_frontends = .*endpoint=127.0.0.1:\([0-9]*\).*/\1/p' "$conf")
    is_running rgw || start_rgw
    return
  fi
  stop_all
  mkdir -p "$dir/log" "$dir/crash" "$run" "$dir/mon" "$dir/osd"
  write_conf
  monmaptool --create --clobber --fsid "$(sed -n 's/^fsid = //p' "$conf")" --addv a "[v2:127.0.0.1:$mon_port]" "$dir/monmap" >/dev/null
  ceph-mon -c "$conf" --mkfs -i a --monmap "$dir/monmap" >>"$dir/log/mon.out" 2>&1
  spawn mon ceph-mon -c "$conf" -i a -f
  wait_for mon ceph_ mon stat
  uuid=$(cat /proc/sys/kernel/random/uuid)
  ceph_ osd new "$uuid" >/dev/null
  ceph-osd -c "$conf" -i 0 --mkfs --osd-uuid "$uuid" >>"$dir/log/osd.out" 2>&1
  spawn osd ceph-osd -c "$conf" -i 0 -f
  wait_for osd osd_is_up
  admin user create --uid=demo --display-name=demo --access-key="$access_key" --secret-key="$secret_key"
  start_rgw
}

admin() {
  timeout $wait_s radosgw-admin -c "$conf" -n client.admin "$@" >>"$dir/log/admin.out" 2>&1 ||
    { tail -n 20 "$dir/log/admin.out" >&2; fail "radosgw-admin $1 failed"; }
}
quota() {
  local action=enable
  if [ "$2" = none ]; then action=disable; else admin quota set --quota-scope=bucket --bucket="$1" --max-size="$2"; fi
  admin quota "$action" --quota-scope=bucket --bucket="$1"
}

stop_all() {
  for name in rgw osd mon; do stop_one $name; done
  rm -rf "${dir:?}"/{mon,osd,run,log,crash,monmap,ceph.conf}
}

case $command in
  start)
    start
    printf 'S3_ENDPOINT=http://127.0.0.1:%s\nS3_REGION=us-east-1\n' "$rgw_port"
    printf 'S3_ACCESS_KEY_ID=%s\nS3_SECRET_ACCESS_KEY=%s\n' "$access_key" "$secret_key"
    ;;
  outage) stop_one rgw ;;
  kill) is_running rgw && kill -KILL "$(cat "$run/rgw.pid")" ;;
  pause) is_running rgw && kill -STOP "$(cat "$run/rgw.pid")" ;;
  continue) is_running rgw && kill -CONT "$(cat "$run/rgw.pid")" ;;
  user) admin user create --uid="$3" --display-name="$3" --access-key="$3" --secret-key="$3-secret" ;;
  quota) quota "${3:-uploads}" "${4:-none}" ;;
  stop) stop_all; rmdir "$dir" ;;
  *) fail "unknown command $command" ;;
esac
