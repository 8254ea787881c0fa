{{- define "kontor.labels" -}}
app.kubernetes.io/name: kontor
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "kontor.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "kontor.claim" -}}
{{ .Values.imports.existingClaim | default (printf "%s-imports" .Release.Name) }}
{{- end }}

{{/* Pod settings that all processes share. Without `enableServiceLinks: false`, Kubernetes adds variables that begin as
     those of Kontor, and Kontor refuses unknown ones. */}}
{{- define "kontor.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: 90
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: { type: RuntimeDefault }
volumes:
  - name: tmp
    emptyDir: {}
  - name: imports
    persistentVolumeClaim: { claimName: {{ include "kontor.claim" . }} }
{{- end }}

{{- define "kontor.container" -}}
image: {{ include "kontor.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
envFrom:
  - secretRef: { name: {{ .Values.secretName | quote }} }
env:
  {{- range $name, $value := .Values.settings }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
volumeMounts:
  - { name: tmp, mountPath: /tmp }
  - { name: imports, mountPath: /var/lib/kontor/imports }
{{- end }}
