# One real node without a virtual machine or a container engine; sourced by `up` and `down`.
#
# The whole cluster lives in namespaces of its own (process ids, mounts, network), held open by one process, as a
# container would hold them. So fixed ports and default paths never meet the machine's, the machine's iptables stay
# untouched, and ending that process ends every pod, mount, bridge and rule at once, even after a crash of `up`.
# Only cgroups are the machine's own; they sit under one folder per cluster, which node_destroy removes.

node_name=node-1
node_cgroups() { awk '$3 ~ "^cgroup2?$" {print $2}' /proc/mounts; }

node_create() {
  mkdir -p "$state/node"
  setsid unshare --net --mount --pid --ipc --uts --fork --mount-proc --propagation private pause \
    >"$state/logs/node.log" 2>&1 </dev/null &
  local unshare=$! init
  disown # else bash reports its end as a killed job
  until init=$(pgrep -P $unshare); do kill -0 $unshare || die "unshare failed: $(cat "$state/logs/node.log")"; sleep 0.02; done
  echo "$init $(birth "$init")" >"$state/pids/node"

  # The first free network number is ours: creating the link claims it, the kernel refuses a second one.
  local n
  for n in $(seq 0 49); do
    ! ip route show | grep -q "^10\.$((200 + n))\." || continue
    ! ip link add "aifactory$n" type veth peer name machine netns "$init" 2>/dev/null || break
  done
  local net=10.$((200 + n))
  echo "aifactory$n" >"$state/node/link"
  pods_cidr=$net.0.0/17 services_cidr=$net.128.0/18 services_first=.128.1 ip=$net.255.2
  enter=(nsenter --target "$init" --net --mount --pid --ipc --uts --wd=/)
  "${enter[@]}" bash -es -- "$state" "$ip" "$pods_cidr" "$node_name" <"$here/node-init"
  ip addr add "$net.255.1/30" dev "aifactory$n"
  ip link set "aifactory$n" up
  ip route add "$net.0.0/16" via "$ip" # tests on this machine reach services and pods by address
  echo "$init" >"$state/node-pid" # from here on, components start inside

  local d
  for d in $(node_cgroups); do # cpuset: a group without cpus and memory nodes cannot hold processes
    mkdir -p "$d/$(basename "$(cat "$state/node/link")")"
    [ ! -e "$d/cpuset.cpus" ] || for f in cpuset.cpus cpuset.mems; do cat "$d/$f" >"$d/aifactory$n/$f"; done
    # As much as eight of the machine's other processes: by default all pods together would weigh as much as one of them.
    [ ! -e "$d/cpu.shares" ] || echo 8192 >"$d/aifactory$n/cpu.shares"
    [ ! -e "$d/aifactory$n/cpu.weight" ] || echo 800 >"$d/aifactory$n/cpu.weight"
  done
}

node_start() {
  local group; group=/$(cat "$state/node/link")
  copy_store "$store" "$state/node/containerd" # images are unpacked once per machine
  cat >"$state/node/containerd.toml" <<TOML
version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/aifactory-pause:1"
  disable_apparmor = true
  restrict_oom_score_adj = true # lowering it needs CAP_SYS_RESOURCE, which a container that runs CI may lack
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
TOML
  component containerd containerd --config "$state/node/containerd.toml"

  kubectl apply -f "$here/manifests/dns.yaml" >>"$state/logs/manifests.log"
  kubeconfig_service_account "$state/coredns.kubeconfig" kube-system coredns
  # Names outside the cluster do not exist: no query of a pod leaves the machine, and none waits for a timeout.
  cat >"$state/node/Corefile" <<COREFILE
.:53 {
  errors
  ready
  kubernetes cluster.local in-addr.arpa {
    kubeconfig $state/coredns.kubeconfig
    ttl 1
  }
  template ANY ANY . {
    rcode NXDOMAIN
  }
}
COREFILE
  component coredns coredns -conf "$state/node/Corefile"

  kubeconfig_cert kube-proxy /CN=system:kube-proxy
  # Zero: the connection tracking limits are the machine's and stay as they are.
  component kube-proxy kube-proxy --kubeconfig="$state/kube-proxy.kubeconfig" --hostname-override="$node_name" \
    --proxy-mode=iptables --cluster-cidr="$pods_cidr" --conntrack-max-per-core=0 \
    --conntrack-tcp-timeout-established=0 --conntrack-tcp-timeout-close-wait=0

  kubeconfig_cert "kubelet" "/O=system:nodes/CN=system:node:$node_name"
  pki_cert kubelet-server "/O=system:nodes/CN=system:node:$node_name" "IP:$ip,DNS:$node_name"
  cat >"$state/node/kubelet.yaml" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: $state/pki/ca.crt}
authorization: {mode: Webhook}
tlsCertFile: $state/pki/kubelet-server.crt
tlsPrivateKeyFile: $state/pki/kubelet-server.key
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cgroupDriver: cgroupfs
cgroupRoot: $group
failCgroupV1: false
failSwapOn: false
clusterDNS: [$ip]
clusterDomain: cluster.local
resolvConf: ""
imageGCHighThresholdPercent: 100 # images cannot be pulled again
evictionHard: {memory.available: 200Mi, nodefs.available: 1%, imagefs.available: 1%}
maxPods: 250
nodeStatusUpdateFrequency: 5s
shutdownGracePeriod: 0s
YAML
  component kubelet kubelet --config="$state/node/kubelet.yaml" --kubeconfig="$state/kubelet.kubeconfig" \
    --hostname-override="$node_name" --node-ip="$ip" --root-dir=/var/lib/kubelet
}

node_ready() { kubectl wait --for=condition=Ready "node/$node_name" --timeout=1s; }

node_destroy() {
  local group d i; group=$(cat "$state/node/link")
  signal node KILL # the kernel ends every process of the process id namespace with its first one
  for i in $(seq 100); do alive node || break; sleep 0.05; done
  ip link del "$group" 2>/dev/null || true # usually gone already, with the network namespace
  for d in $(node_cgroups); do
    for i in $(seq 50); do # deepest first; a dying process holds its group for some milliseconds
      find "$d/$group" -depth -type d -exec rmdir {} + 2>/dev/null || true
      [ -e "$d/$group" ] || break
      sleep 0.1
    done
  done
  rm -f "$state/node-pid"
}

node_fake() { # node_fake N: kwok plays the kubelets of N nodes
  local i
  kubeconfig_cert kwok /O=system:masters/CN=kwok
  for i in $(seq "$1"); do
    cat <<YAML
---
apiVersion: v1
kind: Node
metadata:
  name: fake-$i
  labels: {type: kwok, kubernetes.io/hostname: fake-$i, aifactory/played: by-hand}
  annotations: {kwok.x-k8s.io/node: fake}
status:
  allocatable: {cpu: 64, memory: 256Gi, pods: 250, nvidia.com/gpu: 8}
  capacity: {cpu: 64, memory: 256Gi, pods: 250, nvidia.com/gpu: 8}
YAML
  done | kubectl apply -f - >>"$state/logs/manifests.log"
  # A pod that asks for nodes that are played by hand stays pending until a test writes its status.
  awk '{print} /^  name: pod-/ {ready = /pod-ready/} ready && /matchExpressions:/ {
    print "    - {key: \".spec.nodeSelector[\\\"aifactory/played\\\"]\", operator: DoesNotExist}"; ready = 0}' \
    "$cache/kwok-stages.yaml" >"$state/kwok-stages.yaml"
  component kwok kwok --kubeconfig="$state/kwok.kubeconfig" --config="$state/kwok-stages.yaml" --manage-all-nodes=true --server-address="$ip:10247"
  wait_for 180 "fake nodes" kubectl wait --for=condition=Ready node --all --timeout=5s
}
