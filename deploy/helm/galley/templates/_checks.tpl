{{/* What a schema can't express: keys that others make necessary. */}}
{{- define "galley.checks" -}}
{{- $s := .Values.secrets -}}
{{- $database := ternary $s.database (dict) .Values.platform.enabled -}}
{{- if not .Values.temporal.address }}{{ fail "temporal.address: expected host:port of Temporal's frontend" }}{{ end -}}
{{- if not .Values.secrets.operatorToken.name }}{{ fail "secrets.operatorToken.name: expected the name of a Secret with the operator token" }}{{ end -}}
{{- if .Values.platform.enabled -}}
{{- if not .Values.secrets.database.name }}{{ fail "secrets.database.name: expected the name of a Secret with DATABASE_URL, as platform.enabled is true" }}{{ end -}}
{{- if not .Values.platform.objectStoreUrl }}{{ fail "platform.objectStoreUrl: expected s3://bucket?endpoint=…&region=…, as platform.enabled is true" }}{{ end -}}
{{- if not .Values.platform.publicUrl }}{{ fail "platform.publicUrl: expected the URL that links name, as platform.enabled is true" }}{{ end -}}
{{- else if not .Values.adminApi.url -}}
{{- fail "adminApi.url: expected the URL of a hosted Admin API, as platform.enabled is false" -}}
{{- end -}}
{{- if and .Values.agentWorker.enabled (not .Values.platform.enabled) }}{{ fail "agentWorker.enabled: expected platform.enabled too, because it runs the agents of this release's Admin API" }}{{ end -}}
{{- if and .Values.agentWorker.enabled .Values.networkPolicy.enabled (not .Values.agentWorker.egress) }}{{ fail "agentWorker.egress: expected rules for all that it may connect to (Temporal, database, object store, forge), as agentWorker.enabled is true" }}{{ end -}}
{{- if .Values.agentWorker.enabled }}{{ include "galley.checkSandbox" . }}{{ end -}}
{{- range list
  (dict "at" "operatorToken" "secret" $s.operatorToken)
  (dict "at" "database" "secret" $database)
  (dict "at" "encryptionKey" "secret" $s.encryptionKey)
  (dict "at" "sites" "secret" (dict "name" $s.sites))
  (dict "at" "platform" "secret" (ternary (dict "name" $s.platform) (dict) .Values.platform.enabled))
  (dict "at" "objectStore" "secret" (dict "name" $s.objectStore.name "key" $s.objectStore.accessKeyIdKey))
  (dict "at" "objectStore" "secret" (dict "name" $s.objectStore.name "key" $s.objectStore.secretAccessKeyKey))
-}}
{{- include "galley.checkSecret" (dict "root" $ "at" .at "secret" .secret) -}}
{{- end -}}
{{- end -}}

{{/*
The sandbox needs a user namespace of the pod (hostUsers: false) and a whole /proc (procMount: Unmasked). Up to 1.32 the API
server drops both without a word, unless its feature gates say otherwise; the Pod Security levels below privileged forbid them.
*/}}
{{- define "galley.checkSandbox" -}}
{{- if semverCompare "<1.33.0-0" .Capabilities.KubeVersion.Version }}{{ fail (printf "agentWorker.enabled: expected Kubernetes 1.33 or newer, because %s drops what the sandbox of agents needs (hostUsers, procMount)" .Capabilities.KubeVersion.Version) }}{{ end -}}
{{- $level := dig "metadata" "labels" "pod-security.kubernetes.io/enforce" "privileged" (lookup "v1" "Namespace" "" .Release.Namespace) -}}
{{- if ne $level "privileged" }}{{ fail (printf "agentWorker.enabled: expected a namespace whose pod-security.kubernetes.io/enforce is privileged, but %s has %s, which forbids the sandbox of agents" .Release.Namespace $level) }}{{ end -}}
{{- end -}}

{{/* A pod whose Secret is missing waits for it, and Helm with it. Every namespace of a cluster has that ConfigMap; `helm template` sees nothing. */}}
{{- define "galley.checkSecret" -}}
{{- $namespace := .root.Release.Namespace -}}
{{- if and .secret.name (lookup "v1" "ConfigMap" $namespace "kube-root-ca.crt") -}}
{{- $found := lookup "v1" "Secret" $namespace .secret.name -}}
{{- if not $found }}{{ fail (printf "secrets.%s: expected the name of a Secret in the namespace %s, which has no %s" .at $namespace .secret.name) }}{{ end -}}
{{- if and .secret.key (not (hasKey (default dict $found.data) .secret.key)) }}{{ fail (printf "secrets.%s: expected a Secret with the key %s, which %s lacks" .at .secret.key .secret.name) }}{{ end -}}
{{- end -}}
{{- end -}}
