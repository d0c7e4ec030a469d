#!/bin/sh
# Fills fuzz/corpus/TARGET: manifests of testdata/ for the targets that read documents, awkward texts for those that read strings.
set -eu
cd "$(dirname "$0")/.."
for target in reader load merge validate plan render diff rollout discover kueue endpoints matrix why expand convert fix directory; do
  mkdir -p "fuzz/corpus/$target"
  find testdata examples -name '*.yaml' -size -12k | sort | head -n 200 | while read -r file; do
    cp "$file" "fuzz/corpus/$target/$(printf %s "$file" | tr / _)"
  done
done
# What other tools write: model configurations and payloads.
for target in import payload; do
  mkdir -p "fuzz/corpus/$target"
  find testdata examples -name '*.json' -size -12k | sort | head -n 100 | while read -r file; do
    cp "$file" "fuzz/corpus/$target/$(printf %s "$file" | tr / _)"
  done
done
# put TARGET TEXT...: each text becomes a file.
put() {
  target=$1
  shift
  mkdir -p "fuzz/corpus/$target"
  number=0
  for text in "$@"; do
    number=$((number + 1))
    printf -- "$text" > "fuzz/corpus/$target/seed-$number"
  done
}
put quantity 1 0 -1.5Gi 100m 1e3 1E-3 12e6 .5 5. 8Ei 1n 1u 9223372036854775808 1e1000000000 7B 70.6B 1.5T 80GB 80GiB 50%% 101%%
put version '1.0\n1.0.0' 'v2.1-rc.1+build\n2.1' '1\n1.0' '0.4.6.post1\n0.4.7' '99999999999999999999\n1' '1.0-alpha\n1.0-beta'
put names 'name-1\nvalue' 'a.b.c\nx' 'example.com/key\nv' 'a=b,c!=d,e in (f,g),!h\nb' 'app notin (x, y)\ny' '../../etc/passwd\n' '*.example.com\n' '::1\n' 'A_B-c.d\n'
put template '{{.Name}}' '{{ .Labels.team }}' '{{- .Namespace -}}' '{{ if eq .Name "x" }}a{{ else }}b{{ end }}' '{{ range $i, $e := .Labels }}{{ $i }}{{ end }}' \
  '{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}' '{{ printf "%%s %%5d" .Name 3 }}' '{{ .Name | html | urlquery }}' '{{/* note */}}' '{{ index .Annotations "a/b" }}' \
  '{{ .Name }}-{{ .Namespace }}.{{ .IngressDomain }}' 'args: ["{{ len .Labels }}"]\nname: x'
put settings 'semantics = "controller"\n' '[render]\nnamespace = "x"\n' '[validate]\nignore = ["unused-runtime"]\n' 'paths = ["a", "../b"]\n'
put cel 'self.a == 1\n{"a": 1}' 'size(self.items) > 0 && self.items.all(i, i.name != "")\n{"items": []}' 'has(self.x) ? self.x.matches("^a+$") : true\n{"x": "aaa"}'
put pattern '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$\nname' '^(\\w|[[:alpha:]])+$\nx_1' '(a|b){1,63}\nab'
