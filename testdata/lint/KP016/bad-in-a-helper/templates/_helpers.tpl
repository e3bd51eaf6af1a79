{{- define "web.spec" -}}
dnsPolicy: ClusterFrist
containers:
- name: web
  image: {{ .Values.image }}
{{- end -}}
