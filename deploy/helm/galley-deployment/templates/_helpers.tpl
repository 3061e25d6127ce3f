{{- define "galley-deployment.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "galley-deployment.selectorLabels" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "galley-deployment.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{ include "galley-deployment.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{/* Empty if nothing is served. Unless `enabled` says otherwise, a link is enough. */}}
{{- define "galley-deployment.enabled" -}}
{{- $given := .Values.staticExport -}}
{{- if ternary $given.bundleUrl $given.enabled (kindIs "invalid" $given.enabled) }}true{{ end -}}
{{- end -}}

{{/* The values file: the program reads these two groups of the chart's own values, by the same names. */}}
{{- define "galley-deployment.valuesFile" -}}
{{- $staticExport := dict "enabled" (ne (include "galley-deployment.enabled" .) "") -}}
{{- range $key := list "bundleUrl" "version" "publicKey" "integrity" -}}
{{- with index $.Values.staticExport $key }}{{ $_ := set $staticExport $key . }}{{ end -}}
{{- end -}}
{{- toYaml (dict "staticExport" $staticExport "deployment" .Values.deployment) -}}
{{- end -}}
