# Kueue, built from its module, beside the cluster; sourced by `up`.
#
# It runs as upstream deploys it, but as a plain process: upstream's CRDs, roles, webhooks and aggregated API, certificates made and
# announced by itself. Only its two services differ: they are ExternalName services that name the cluster's address. The API server resolves those
# without kube-proxy and still expects the service's name in the certificate, so the same works without nodes (a loopback address) and with.

kueue_aggregation() { # sets aggregation: with these the API server forwards requests to the visibility API and says for whom
  local f=$state/pki/front-proxy
  pki_key "$f.key" # a CA of its own that signs nothing else: under the cluster's every client certificate would have to bear this name
  openssl req -x509 -new -key "$f.key" -subj /CN=front-proxy-client -days 30 -out "$f.crt"
  aggregation=(--requestheader-client-ca-file="$f.crt" --requestheader-allowed-names=front-proxy-client
    --requestheader-username-headers=X-Remote-User --requestheader-group-headers=X-Remote-Group
    --requestheader-extra-headers-prefix=X-Remote-Extra- --proxy-client-cert-file="$f.crt" --proxy-client-key-file="$f.key")
}

kueue_create() {
  local name
  mkdir -p "$state/kueue/webhook"
  # Webhooks of integrations that are off run too; like upstream's chart, let not every pod fail with Kueue.
  awk 'BEGIN {RS = "\n---\n"; ORS = "\n---\n"} !/\nkind: (Deployment|Service)\n/' "$kueue/manifests.yaml" |
    sed -E -e 's/^( {4,})name: kueue-webhook-service$/&\n\1port: 9443/' \
      -e 's/^    name: kueue-visibility-server$/&\n    port: 9444/' \
      -e '/failurePolicy: Fail/{N;s/Fail(\n  name: [mv](pod|deployment|statefulset)\.)/Ignore\1/}' >"$state/kueue/manifests.yaml"
  for name in kueue-webhook-service kueue-visibility-server; do
    echo "{apiVersion: v1, kind: Service, metadata: {name: $name, namespace: kueue-system}, spec: {type: ExternalName, externalName: $ip}}"
    echo ---
  done >>"$state/kueue/manifests.yaml"
  kubectl create --validate=false -f "$state/kueue/manifests.yaml" >>"$state/logs/manifests.log"
}

kueue_certificate() { # Kueue writes its certificate to a secret and waits for the files, which a kubelet would mount
  local f
  for f in tls.key tls.crt; do
    kubectl get secret -n kueue-system kueue-webhook-server-cert -o "jsonpath={.data.${f/./\\.}}" | base64 -d >"$state/kueue/$f"
    [ -s "$state/kueue/$f" ] || return 1
  done
  mv "$state/kueue/tls.key" "$state/kueue/tls.crt" "$state/kueue/webhook"
}

kueue_start() {
  kubeconfig_service_account "$state/kueue.kubeconfig" kueue-system kueue-controller-manager
  cat >"$state/kueue/config.yaml" <<YAML
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: kueue-system
health: {healthProbeBindAddress: "$ip:8081"}
metrics: {bindAddress: "$ip:8443", enableClusterQueueResources: true}
webhook: {host: "$ip", port: 9443, certDir: $state/kueue/webhook}
visibilityServer: {bindAddress: "$ip", bindPort: 9444}
leaderElection: {leaderElect: false}
integrations: {frameworks: [ray.io/rayjob]}
YAML
  component kueue env --chdir="$state/kueue" kueue --kubeconfig="$state/kueue.kubeconfig" --config="$state/kueue/config.yaml" --zap-log-level=2
  wait_for 180 "Kueue's certificate" kueue_certificate
  wait_for 180 Kueue curl -sf "http://$ip:8081/readyz"
  wait_for 180 "visibility API" kubectl wait --for=condition=Available apiservice/v1beta2.visibility.kueue.x-k8s.io --timeout=5s
}
