# A node in namespaces of its own, for the guided cases. Sourced by them; bash.
#
# The script starts itself again in new mount, network, process, host name and IPC namespaces. /etc, /run, /var/lib and /var/log
# are the node's own there, nothing is routed to the outside, and everything ends with the first process. Nothing outside changes.

set -euo pipefail
trap 'echo "$0: line $LINENO: the case cannot go on" >&2' ERR

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# A program by name: from the PATH, where Debian has servers, or where .ci/install-real has unpacked them.
program() { # NAME
    local directory
    for directory in ${KDNS_REAL_DIR:-"$here/../../target/real"}/servers/usr/sbin ${PATH//:/ } /usr/sbin /sbin; do
        [[ -x $directory/$1 ]] && { echo "$directory/$1"; return; }
    done
    echo "$0: $1 is not here (on Debian: apt-get install dnsmasq-base iproute2 util-linux)" >&2
    return 1
}

if [[ -z ${KDNS_CASE:-} ]]; then
    [[ $(id -u) == 0 ]] || { echo "$0: needs root, for namespaces" >&2; exit 2; }
    kdns=${KDNS:-$(command -v kdns || true)}
    [[ -x $kdns ]] || { echo "$0: kdns is not on the PATH; KDNS=target/release/kdns $0 names one" >&2; exit 2; }
    dnsmasq=$(program dnsmasq) || exit 2
    kdns=$(readlink -f "$kdns") dnsmasq=$(readlink -f "$dnsmasq")
    export KDNS_CASE=inside kdns dnsmasq
    # At most two minutes, whatever happens.
    exec timeout --signal=KILL 120 unshare --mount --net --pid --uts --ipc --fork --kill-child --mount-proc "$0" "$@"
fi

# From here on this is the node. What it runs is copied first: it may lie where the node has directories of its own.
exec 8<"$kdns" 9<"$dnsmasq"
for directory in /run /var/lib /var/log; do mount -t tmpfs -o mode=755 case "$directory"; done
work=/run/kdns-case
mkdir -p "$work/etc" "$work/old" "$work/bin"
cat <&8 >"$work/bin/kdns"
cat <&9 >"$work/bin/dnsmasq"
exec 8<&- 9<&-
chmod 755 "$work"/bin/*
mount --bind /etc "$work/old"
for file in "$work"/old/*; do
    case ${file##*/} in
    systemd | resolv.conf | hosts | hostname | nsswitch.conf | dnsmasq* | unbound | bind | NetworkManager | kubernetes | coredns | default) ;;
    *) ln -s "$file" "$work/etc/" ;;
    esac
done
mount --bind "$work/etc" /etc
PATH=$work/bin:/usr/sbin:/usr/bin:/sbin:/bin
unset RES_OPTIONS LOCALDOMAIN HOSTALIASES
hostname node-a
echo '127.0.0.1 localhost' >/etc/hosts
echo 'hosts: files dns' >/etc/nsswitch.conf
ip link set lo up

# Writes standard input to a file, and makes the directories above it.
put() { # FILE
    mkdir -p "${1%/*}"
    cat >"$1"
}

# Shows a command and what it says, as a shell would.
step() { # COMMAND
    printf '# %s\n' "$1"
    bash -c "$1" 2>&1 || true
}

# A network namespace with one address, joined to the node's 10.244.0.1.
network() { # NAME ADDRESS
    ip netns add "$1"
    ip link add "veth-$1" type veth peer name eth0 netns "$1"
    ip addr add 10.244.0.1/32 dev "veth-$1"
    ip link set "veth-$1" up
    ip route add "$2/32" dev "veth-$1"
    ip -n "$1" link set lo up
    ip -n "$1" addr add "$2/32" dev eth0
    ip -n "$1" link set eth0 up
    ip -n "$1" route add 10.244.0.1 dev eth0
    ip -n "$1" route add default via 10.244.0.1 dev eth0
    echo 1 >/proc/sys/net/ipv4/ip_forward
}

# dnsmasq under another program's name; with `-` on the node's network. It has no cache, so that every query is seen.
server() { # NETWORK NAME OPTION…
    local network=$1 name=$2 enter=()
    shift 2
    cp "$work/bin/dnsmasq" "$work/bin/$name"
    [[ $network == - ]] || enter=(nsenter "--net=/run/netns/$network")
    "${enter[@]}" "$work/bin/$name" --keep-in-foreground --conf-file=/dev/null --no-hosts --cache-size=0 --user=root --pid-file= \
        --log-facility="/var/log/$name.log" --log-queries "$@" &
    servers[$name]=$!
    # It opens its log before it listens; an answer of any kind says that it does.
    local at
    for at in {1..100}; do
        grep -qs started "/var/log/$name.log" && return
        sleep 0.02
    done
    echo "$name did not start" >&2
    exit 2
}
declare -A servers

# Ends a server.
stop() { # NAME
    kill "${servers[$1]}"
    wait "${servers[$1]}" 2>/dev/null || true
    rm -f "/var/log/$1.log"
}

# A pod as containerd has it: its sandbox's record and its resolv.conf (standard input), in a network that exists.
pod() { # NAMESPACE NAME UID SANDBOX NETWORK
    put "/var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes/$4/resolv.conf"
    mkdir -p "/var/lib/kubelet/pods/$3" "/var/log/pods/$1_$2_$3"
    put "/run/containerd/io.containerd.runtime.v2.task/k8s.io/$4/config.json" <<END
{"ociVersion": "1.0.2",
 "annotations": {"io.kubernetes.cri.container-type": "sandbox", "io.kubernetes.cri.sandbox-id": "$4",
                 "io.kubernetes.cri.sandbox-name": "$2", "io.kubernetes.cri.sandbox-namespace": "$1",
                 "io.kubernetes.cri.sandbox-uid": "$3"},
 "linux": {"namespaces": [{"type": "network", "path": "/run/netns/$5"}]}}
END
}
