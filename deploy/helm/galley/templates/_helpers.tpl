{{- define "galley.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Labels of a component: {root, component}. */}}
{{- define "galley.selectorLabels" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "galley.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{ include "galley.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- end -}}

{{/* Empty if `config` has no sites: then nothing needs a key of the Admin API, which can't exist before its first install. */}}
{{- define "galley.hasSites" -}}
{{- if ne (trim .Values.config) "sites: {}" }}true{{ end -}}
{{- end -}}

{{/* Named by its contents: a later release changes nothing that pods of an earlier one read. */}}
{{- define "galley.configName" -}}
{{- printf "%s-config-%s" (include "galley.fullname" .) (.Values.config | sha256sum | trunc 10) -}}
{{- end -}}

{{/*
The processes as JSON: {component: {args, values, port, live, ready, …}}. `site` ones read galley.yaml, `platform` ones the
database and the object store.
*/}}
{{- define "galley.components" -}}
{{- $v := .Values -}}
{{- $all := dict -}}
{{- $sites := ternary list (list "--no-config") (ne (include "galley.hasSites" .) "") -}}
{{- $_ := set $all "api" (dict "args" (concat (list "api") $sites) "values" $v.api "port" 3000 "portName" "http" "probes" "/" "metrics" "/metrics" "site" true "operator" true) -}}
{{- $_ := set $all "worker" (dict "args" (concat (list "worker") $sites) "values" $v.worker "port" 9464 "portName" "metrics" "probes" "/-/" "metrics" "/metrics" "site" true) -}}
{{- if $v.platform.enabled -}}
{{- $_ := set $all "platform" (dict "args" (list "platform") "values" $v.platform "port" 3100 "portName" "http" "probes" "/" "metrics" "/metrics" "platform" true "operator" true) -}}
{{- $_ := set $all "platform-worker" (dict "args" (list "platform-worker" "--no-agents") "values" $v.platformWorker "port" 9464 "portName" "metrics" "probes" "/-/" "metrics" "/metrics" "platform" true) -}}
{{- if $v.agentWorker.enabled -}}
{{- $_ := set $all "agent-worker" (dict "args" (list "agent-worker") "values" $v.agentWorker "port" 9464 "portName" "metrics" "probes" "/-/" "metrics" "/metrics" "platform" true "agents" true) -}}
{{- end -}}
{{- end -}}
{{- toJson $all -}}
{{- end -}}

{{- define "galley.image" -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}

{{/* What galley.yaml is read with, besides secrets.sites. */}}
{{- define "galley.siteEnv" -}}
- name: GALLEY_CONFIG
  value: /config/galley.yaml
- name: ADMIN_API_URL
  value: {{ default (printf "http://%s-platform:3100" (include "galley.fullname" .)) .Values.adminApi.url | quote }}
{{- with .Values.api.publicUrl }}
- name: API_PUBLIC_URL
  value: {{ . | quote }}
{{- end }}
{{- end -}}

{{- define "galley.databaseEnv" -}}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ .Values.secrets.database.name }}
      key: {{ .Values.secrets.database.key }}
{{- end -}}

{{/* Variables of a component: {root, process}. */}}
{{- define "galley.env" -}}
{{- $v := .root.Values -}}
- name: HOST
  value: 0.0.0.0
- name: GALLEY_HOME
  value: /data
- name: LOG_LEVEL
  value: {{ $v.logLevel | quote }}
- name: TEMPORAL_ADDRESS
  value: {{ $v.temporal.address | quote }}
- name: TEMPORAL_NAMESPACE
  value: {{ $v.temporal.namespace | quote }}
{{- with $v.temporal.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- with $v.secrets.encryptionKey.name }}
- name: GALLEY_ENCRYPTION_KEY
  valueFrom:
    secretKeyRef:
      name: {{ . }}
      key: {{ $v.secrets.encryptionKey.key }}
{{- end }}
{{- if eq .process.portName "metrics" }}
- name: METRICS_PORT
  value: {{ .process.port | quote }}
{{- end }}
{{- if .process.operator }}
- name: OPERATOR_TOKEN
  valueFrom:
    secretKeyRef:
      name: {{ $v.secrets.operatorToken.name }}
      key: {{ $v.secrets.operatorToken.key }}
{{- end }}
{{- if .process.site }}
{{ include "galley.siteEnv" .root }}
{{- end }}
{{- if .process.platform }}
{{ include "galley.databaseEnv" .root }}
- name: OBJECT_STORE_URL
  value: {{ $v.platform.objectStoreUrl | quote }}
- name: PLATFORM_PUBLIC_URL
  value: {{ $v.platform.publicUrl | quote }}
- name: BUNDLE_LINK_TTL
  value: {{ $v.platform.bundleLinkTtl | quote }}
{{- with $v.platform.exportKeep }}
- name: EXPORT_KEEP
  value: {{ . | quote }}
{{- end }}
{{- with $v.secrets.objectStore.name }}
- name: AWS_ACCESS_KEY_ID
  valueFrom:
    secretKeyRef:
      name: {{ . }}
      key: {{ $v.secrets.objectStore.accessKeyIdKey }}
- name: AWS_SECRET_ACCESS_KEY
  valueFrom:
    secretKeyRef:
      name: {{ . }}
      key: {{ $v.secrets.objectStore.secretAccessKeyKey }}
{{- end }}
{{- end }}
{{- if .process.agents }}
# Without a sandbox, the process ends with the reason, and no pod becomes ready.
- name: AGENT_SANDBOX
  value: "on"
{{- end }}
{{- with .process.values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "galley.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
{{- end -}}
