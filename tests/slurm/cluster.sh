#!/usr/bin/env bash
# A private Slurm of virtual nodes on this host, for one test: slurmctld, munged and a slurmd for each node, all below one folder,
# nothing in /etc, /run or /var, no systemd. Each node has its own host name and /dev/shm, as root its own network as well.
# usage: cluster.sh up FOLDER [NODES [GPUS [LINE...]]]   prints the configuration's path: export SLURM_CONF; LINEs are added to it
#        cluster.sh lose FOLDER NODE             cuts the node's network (power loss where nodes share the host's)
#        cluster.sh down FOLDER                  ends everything and removes FOLDER
# Exit code 77 where Slurm is not installed or cannot start here, with the reason on stderr.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
skip() {
  printf 'cluster: %s\n' "$*" >&2
  exit 77
}

command=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd -P)
shift 2
conf=$dir/slurm.conf

# --- processes: a pid of ours counts only if its command line names our folder ------------------------------------------------
alive() { [ -n "$1" ] && tr '\0' ' ' <"/proc/$1/cmdline" 2>/dev/null | grep -qF "$dir/"; }
pid_of() { cat "$dir/run/$1.pid" 2>/dev/null || true; }

end() { # PROGRAM: TERM, and KILL after two seconds
  local pid turn
  pid=$(pid_of "$1")
  alive "$pid" || return 0
  kill "$pid" 2>/dev/null || true
  for ((turn = 0; turn < 40; turn++)); do
    alive "$pid" || return 0
    sleep 0.05
  done
  kill -KILL "$pid" 2>/dev/null || true
}

# Pids of a node: whoever lives in its slurmd's namespaces.
processes_of() {
  local space entry
  space=$(readlink "/proc/$(pid_of "slurmd.$1")/ns/uts")
  for entry in /proc/[0-9]*; do
    [ "$(readlink "$entry/ns/uts" 2>/dev/null)" != "$space" ] || basename "$entry"
  done
}

# --- configuration -------------------------------------------------------------------------------------------------------------
# Names and numbers that other clusters on this host do not use: they come from the folder's name.
choose_names() {
  local sum
  sum=$(printf %s "$dir" | cksum | cut -d' ' -f1)
  tag=$(printf %04x $((sum % 65536)))
  network=10.$((200 + sum % 50)).$((sum / 50 % 250))
  port=$((20000 + sum % 400 * 25)) # below the ports that the kernel gives away
  own_network=
  if [ "$(id -u)" -eq 0 ] && unshare --net true 2>/dev/null && ip link add "sb$tag" type bridge 2>/dev/null; then
    own_network=yes
  fi
  controller=127.0.0.1
  [ -z "$own_network" ] || controller=$network.254
  declare -p tag network port own_network controller nodes >"$dir/names"
}

write_configuration() {
  local node gres=''
  [ "$gpus" -eq 0 ] || gres=" Gres=gpu:$gpus"
  cat <<CONF
ClusterName=t$tag
SlurmctldHost=$(hostname -s)($controller)
SlurmctldPort=$port
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
# A requeued job waits until its old credential is void: 5 seconds, the least that is allowed, instead of 120.
AuthInfo=socket=$dir/run/munge.sock,cred_expire=5
CredType=cred/munge
SlurmctldPidFile=$dir/run/slurmctld.pid
SlurmdPidFile=$dir/run/slurmd.%n.pid
SlurmdSpoolDir=$dir/nodes/%n/spool
StateSaveLocation=$dir/state
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=pmix
SlurmdTimeout=10
SlurmctldTimeout=10
InactiveLimit=0
KillWait=20
JobRequeue=1
SchedulerParameters=bf_interval=1,sched_interval=2,batch_sched_delay=0
MessageTimeout=10
${gres:+GresTypes=gpu}
CONF
  for ((node = 1; node <= nodes; node++)); do
    if [ -n "$own_network" ]; then
      printf 'NodeName=node%d NodeAddr=%s.%d Port=%d CPUs=8%s\n' $node "$network" $node $((port + node)) "$gres"
    else
      printf 'NodeName=node%d NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=8%s\n' $node "$(hostname -s)" $((port + node)) "$gres"
    fi
  done
  printf 'PartitionName=main Nodes=%s Default=YES MaxTime=INFINITE State=UP\n' "node[1-$nodes]"
  [ $# -eq 0 ] || printf '%s\n' "$@"
}

# --- start ---------------------------------------------------------------------------------------------------------------------
# Host name, /dev/shm and network are the node's own before its slurmd starts: it waits for the file "go".
start_node() {
  local node=$1 name=node$1 home=$dir/nodes/node$1 spaces=(--uts --mount --ipc) turn
  [ "$(id -u)" -eq 0 ] || spaces+=(--map-current-user --keep-caps)
  [ -z "$own_network" ] || spaces+=(--net)
  mkdir -p "$home"/{spool,tmp,conf,dev}
  cp "$conf" "$home/conf/slurm.conf"
  # The PMIx plugin makes TMP/spmix_appdir_UID_JOB.STEP: nodes of one host must not share TMP.
  printf 'PMIxCliTmpDirBase=%s\n' "$home/tmp" >"$home/conf/mpi.conf"
  for ((turn = 0; turn < gpus; turn++)); do # made up: Slurm wants to see character devices
    ln -sf /dev/null "$home/dev/gpu$turn"
    printf 'Name=gpu File=%s\n' "$home/dev/gpu$turn"
  done >"$home/conf/gres.conf"
  # shellcheck disable=SC2016 # the inner shell expands them
  setsid unshare "${spaces[@]}" --propagation private bash -c '
    set -e
    name=$1 home=$2 address=$3
    hostname "$name"
    mount -t tmpfs -o mode=1777 shm /dev/shm
    echo $$ >"$home/pid"
    while [ ! -e "$home/go" ]; do sleep 0.02; done
    if [ -n "$address" ]; then
      ip link set lo up
      ip addr add "$address/24" dev eth0
      ip link set eth0 up
    fi
    exec slurmd -N "$name" -f "$home/conf/slurm.conf"' _ "$name" "$home" "${own_network:+$network.$node}" \
    </dev/null >"$dir/log/start.$name.log" 2>&1 &
  for ((turn = 0; turn < 500; turn++)); do
    [ ! -s "$home/pid" ] || break
    sleep 0.02
  done
  [ -s "$home/pid" ] || return 1
  if [ -n "$own_network" ]; then
    ip link add "sv$tag$node" type veth peer name eth0 netns "$(cat "$home/pid")"
    ip link set "sv$tag$node" master "sb$tag" up
  fi
  : >"$home/go"
}

# Nodes that answer.
count_ready() { sinfo -h -N -o '%N %T' 2>/dev/null | awk '$1 ~ /^node/ && $2 == "idle"' | sort -u | wc -l; }

up() {
  local node
  nodes=${1:-2} gpus=${2:-0}
  shift $(($# < 2 ? $# : 2))
  for node in munged slurmctld slurmd srun unshare ip; do
    command -v "$node" >/dev/null || skip "there is no $node: apt-get install slurm-wlm munge libpmix-dev iproute2"
  done
  compgen -G '/usr/lib/*/pmix2/lib/libpmix.so' >/dev/null || ldconfig -p | grep -q 'libpmix\.so ' ||
    skip "there is no libpmix.so, which Slurm's plugin opens: apt-get install libpmix-dev"
  [ ${#dir} -le 80 ] || skip "too long for a socket's name: $dir"
  mkdir -p "$dir"/{state,log,run}
  choose_names
  # Slurm asks for names as this host has addresses: where there is only the loopback, not even 127.0.0.1 is found.
  [ -n "$own_network" ] || [ -n "$(hostname -I | tr -d ' ')" ] || skip "this host has no address and allows no network namespaces"
  write_configuration "$@" >"$conf"
  export SLURM_CONF=$conf
  (umask 077 && head -c 1024 /dev/urandom >"$dir/munge.key")
  munged --key-file="$dir/munge.key" --socket="$dir/run/munge.sock" --pid-file="$dir/run/munged.pid" \
    --log-file="$dir/log/munged.log" --seed-file="$dir/run/munge.seed" 2>"$dir/log/munged.err" || skip "munged: $(tail -1 "$dir/log/munged.err")"
  if [ -n "$own_network" ]; then
    ip addr add "$controller/24" dev "sb$tag"
    ip link set "sb$tag" up
  fi
  slurmctld -f "$conf" >"$dir/log/start.slurmctld.log" 2>&1 || skip "slurmctld: $(tail -1 "$dir/log/start.slurmctld.log")"
  for ((node = 1; node <= nodes; node++)); do
    start_node $node || skip "node$node: $(tail -1 "$dir/log/start.node$node.log")"
  done
  while [ "$(count_ready)" -lt "$nodes" ] && [ $SECONDS -lt 45 ]; do
    sleep 0.1
  done
  [ "$(count_ready)" -ge "$nodes" ] || skip "$(count_ready) of $nodes nodes came up: $(tail -1 "$dir/log/slurmctld.log")"
  printf '%s\n' "$conf"
}

lose() {
  if [ -n "$own_network" ]; then
    ip link set "sv$tag${1#node}" down
  else
    processes_of "$1" | xargs kill -KILL
  fi
}

# Nodes first and at once: whatever lives in their namespaces is a slurmd or was started by one.
down() {
  local node
  [ -s "$dir/names" ] || { rm -rf "$dir"; return; }
  for ((node = 1; node <= nodes; node++)); do
    if alive "$(pid_of "slurmd.node$node")"; then
      processes_of "node$node" | xargs -r kill -KILL 2>/dev/null || true
    fi
    [ -z "$own_network" ] || ip link del "sv$tag$node" 2>/dev/null || true
  done
  end slurmctld
  end munged
  [ -z "$own_network" ] || ip link del "sb$tag" 2>/dev/null || true
  rm -rf "$dir"
}

# shellcheck source=/dev/null
[ ! -s "$dir/names" ] || . "$dir/names"
case $command in
  up | lose | down) "$command" "$@" ;;
  *) exit 2 ;;
esac
