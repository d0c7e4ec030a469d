# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_ome_global_optspecs
    string join \n color= v/verbose q/quiet no-pager h/help V/version
end

function __fish_ome_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_ome_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_ome_using_subcommand
    set -l cmd (__fish_ome_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c ome -n "__fish_ome_needs_command" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_needs_command" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_needs_command" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_needs_command" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_needs_command" -s V -l version -d 'Print version'
complete -c ome -n "__fish_ome_needs_command" -f -a "discover" -d 'Generate AcceleratorClasses from Nodes: what to create, to update and to keep, with the evidence for each value'
complete -c ome -n "__fish_ome_needs_command" -f -a "import" -d 'Read from a model\'s config.json what selection needs: format, framework, architecture, size, quantization, context'
complete -c ome -n "__fish_ome_needs_command" -f -a "plan" -d 'Show what each service becomes: model, runtime, deployment modes, replicas, GPUs'
complete -c ome -n "__fish_ome_needs_command" -f -a "explain" -d 'Show every step of the selection: candidates, rules with their operands, the tie-break that decided; of a ModelServing its groups, roles and gangs; of a runtime or a model the services that use it, that could, and why the others cannot'
complete -c ome -n "__fish_ome_needs_command" -f -a "why" -d 'Show the source of each field of a rendered object, and the values that it overrides'
complete -c ome -n "__fish_ome_needs_command" -f -a "render" -d 'Print the manifests that the operator would create'
complete -c ome -n "__fish_ome_needs_command" -f -a "diff" -d 'Show what a change of the manifests does: services that change, pods that restart, GPUs before and after, and the lines of the input that cause it'
complete -c ome -n "__fish_ome_needs_command" -f -a "drain" -d 'Show what happens when nodes are drained: which pods are evicted, where their controllers create them again, and what blocks them; or which nodes can be given back'
complete -c ome -n "__fish_ome_needs_command" -f -a "drift" -d 'Show where a cluster differs from what the operator would write now: objects that are missing, left over or changed, each field with the layer that sets it'
complete -c ome -n "__fish_ome_needs_command" -f -a "rollout" -d 'Show what a change does to pods: in which order, with what capacity, and where it gets stuck'
complete -c ome -n "__fish_ome_needs_command" -f -a "matrix" -d 'Show which runtime would serve which model on which accelerator class, with ties, and the reason where no runtime would. Services that describe their own model are rows too'
complete -c ome -n "__fish_ome_needs_command" -f -a "validate" -d 'Check the input: syntax, schema, references, the catalog as a whole'
complete -c ome -n "__fish_ome_needs_command" -f -a "catalog" -d 'List and show runtimes, models and accelerator classes, built-in and your own'
complete -c ome -n "__fish_ome_needs_command" -f -a "test" -d 'Check expectations: which runtime, accelerator, mode and GPUs services get, and fields of their objects'
complete -c ome -n "__fish_ome_needs_command" -f -a "kueue" -d 'Keep AcceleratorClasses and Kueue\'s ResourceFlavors in step'
complete -c ome -n "__fish_ome_needs_command" -f -a "payload" -d 'Check requests and responses of the inference protocols V1, V2 and V2 over gRPC'
complete -c ome -n "__fish_ome_needs_command" -f -a "man" -d 'Print the manual page, or write one for each command into a directory'
complete -c ome -n "__fish_ome_needs_command" -f -a "version" -d 'Print the version; with `-o json`, also the commit and its date, the known releases of operators and how each is known'
complete -c ome -n "__fish_ome_needs_command" -f -a "convert" -d 'Convert objects: deprecated fields, KServe to OME, accelerator fields of the CRDs to those of OEP-0003 and back'
complete -c ome -n "__fish_ome_needs_command" -f -a "schema" -d 'Show the fields of a kind, as `kubectl explain` does: what each is for, its type, its default'
complete -c ome -n "__fish_ome_needs_command" -f -a "lsp" -d 'Serve an editor over standard input and output, by the Language Server Protocol: findings as you type, decisions on services, users of a runtime, definitions, completion, repairs'
complete -c ome -n "__fish_ome_needs_command" -f -a "endpoints" -d 'Show the URLs services answer on, per protocol: inference, health and metadata'
complete -c ome -n "__fish_ome_needs_command" -f -a "dump" -d 'Print the kubectl command that dumps what `ome` reads of a cluster'
complete -c ome -n "__fish_ome_needs_command" -f -a "code" -d 'Explain a finding, reason or error code, or list them all'
complete -c ome -n "__fish_ome_needs_command" -f -a "config" -d 'Print the settings that commands follow here, and where each comes from: a flag, a variable, a line of a settings file, or the default'
complete -c ome -n "__fish_ome_needs_command" -f -a "completions" -d 'Print a completion script: flags, and the services, runtimes, kinds, fields and codes of the input'
complete -c ome -n "__fish_ome_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ome -n "__fish_ome_using_subcommand discover" -s f -l filename -d 'File, directory or `-`; repeatable [default: the current directory]' -r -F
complete -c ome -n "__fish_ome_using_subcommand discover" -l presets -d 'File or directory with the LLMInferenceServiceConfigs of the cluster, read besides the input; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand discover" -s k -l kustomize -d 'Kustomize directory, which is built; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand discover" -l kustomize-command -d 'Program that builds the directories of `-k`, with its arguments [default: the first of `kustomize build` and `kubectl kustomize` on PATH]' -r
complete -c ome -n "__fish_ome_using_subcommand discover" -l overlays -d 'Whether overlays below `-f` are built [default: never]' -r -f -a "auto\t'Those whose files are all in the repository'
never\t'None'"
complete -c ome -n "__fish_ome_using_subcommand discover" -s n -l namespace -d 'Only the services of a namespace' -r
complete -c ome -n "__fish_ome_using_subcommand discover" -s l -l selector -d 'Only services whose labels match the selector, as kubectl\'s' -r
complete -c ome -n "__fish_ome_using_subcommand discover" -l builtin -d 'When the built-in catalog is used [default: auto]' -r -f -a "auto\t'Runtimes where the input has none of that API, accelerator classes where it has none and has Nodes of the class, and objects that the input names. None for a live cluster, an input with `metadata.uid`'
always\t'Beside the runtimes and classes of the input'
never\t'Not at all, not by name either'"
complete -c ome -n "__fish_ome_using_subcommand discover" -l no-builtin -d 'The same as `--builtin never`' -r -f -a "true\t''
false\t''"
complete -c ome -n "__fish_ome_using_subcommand discover" -l semantics -d 'Follow the published documents, or the code of the controllers' -r -f -a "documented\t'The documents as written'
controller\t'As the code of the operators decides'"
complete -c ome -n "__fish_ome_using_subcommand discover" -l release -d 'Follow a release of an operator, as `ome=v0.1.4`; repeatable' -r -f -a "kserve=v0.19.0\t''
kserve=v0.20.0\t''
kserve=head\t''
kserve=odh\t''
kthena=v0.1.0\t''
kthena=v0.4.0\t''
kthena=v1.0.0\t''
kthena=head\t''
kubernetes=1.35\t''
kubernetes=1.36\t''
kubernetes=1.37\t''
lws=v0.7.0\t''
lws=v0.8.0\t''
lws=v0.9.0\t''
lws=v0.10.0\t''
ome=v0.1.3\t''
ome=v0.1.4\t''
ome=v0.1.5\t''
ome=17b77eda\t''
ome=v1.1.0\t''
ome=v1.2.0\t''
ome=v1.2.2\t''
ome=head\t''"
complete -c ome -n "__fish_ome_using_subcommand discover" -l kthena-profile -d 'A release of Kthena whose behavior ModelServings follow instead of the document\'s; manifests are read as the documents read them' -r -f -a "v0.1\t'v0.1.0 of 2025-10'
v1.0\t'v1.0.0 of 2026-07'
head\t'volcano-sh/kthena @3cc0572, as under controller semantics'"
complete -c ome -n "__fish_ome_using_subcommand discover" -l deployment-mode -d 'Default deployment mode for KServe InferenceServices without the annotation' -r -f -a "RawDeployment\t''
Serverless\t''
Standard\t''
Knative\t''"
complete -c ome -n "__fish_ome_using_subcommand discover" -l model-configs -d 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory' -r -F
complete -c ome -n "__fish_ome_using_subcommand discover" -l hf-cache -d 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]' -r -F
complete -c ome -n "__fish_ome_using_subcommand discover" -l model-facts -d 'Whether models are completed from the built-in table of published models [default: auto]' -r -f -a "auto\t'For what manifests and config.json files leave out. Not with `--semantics controller --no-builtin`, which decides as the controller does on the objects that are read, before the model agent has completed any'
always\t'For values that manifests and config.json files do not set, in every mode'
never\t'Not at all'"
complete -c ome -n "__fish_ome_using_subcommand discover" -l device-tolerations -d 'Whether pods tolerate the taints of the devices that they request, as the admission plugin ExtendedResourceToleration makes them [default: assume]' -r -f -a "assume\t'They do, unless pods of the input show that they do not'
never\t'They have only the tolerations that they state'"
complete -c ome -n "__fish_ome_using_subcommand discover" -l config -d 'Settings file; by default `ome.toml` is searched upward from the working directory, and `$XDG_CONFIG_HOME/ome/config.toml` has what it leaves out' -r -F
complete -c ome -n "__fish_ome_using_subcommand discover" -l exclude -d 'Files and directories below `-f` that are not read, as in `.gitignore`; repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand discover" -l in -d 'Use the definitions of this directory where there are several' -r -f -a "(__fish_complete_directories)"
complete -c ome -n "__fish_ome_using_subcommand discover" -l max-file-size -d 'Largest file that is read [default: 512MiB, of which one object has at most 8MiB]' -r
complete -c ome -n "__fish_ome_using_subcommand discover" -l max-depth -d 'Deepest nesting of a document [default: 64]' -r
complete -c ome -n "__fish_ome_using_subcommand discover" -l max-nodes -d 'Most nodes of a document, aliases expanded [default: 1000000]' -r
complete -c ome -n "__fish_ome_using_subcommand discover" -l max-files -d 'Most files that are read below the paths of `-f` [default: 50000]' -r
complete -c ome -n "__fish_ome_using_subcommand discover" -l jobs -d 'Threads, at most 4 per core; the output does not depend on it [default: one per core]' -r
complete -c ome -n "__fish_ome_using_subcommand discover" -s o -l output -d '`table`, `yaml` (classes to create and update), `json`, or `dir=PATH`: a file per new class, PATH/NAME.yaml. Classes in PATH are read, too' -r
complete -c ome -n "__fish_ome_using_subcommand discover" -l from-values -d 'Generate classes from Helm values instead: `acceleratorClasses: {VENDOR: [{model, memory, variants}]}`. Only this file is read unless `-f` names more' -r -F
complete -c ome -n "__fish_ome_using_subcommand discover" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand discover" -l follow-outside -d 'Read what links and `paths` of ome.toml lead to outside of the named paths'
complete -c ome -n "__fish_ome_using_subcommand discover" -s R -l recursive -d 'Directories are always read recursively; accepted because kubectl requires it'
complete -c ome -n "__fish_ome_using_subcommand discover" -s A -l all-namespaces -d 'Services of all namespaces (the default without `-n`)'
complete -c ome -n "__fish_ome_using_subcommand discover" -l partial -d 'Do not report references to objects that were not loaded'
complete -c ome -n "__fish_ome_using_subcommand discover" -l no-config -d 'Read no settings file'
complete -c ome -n "__fish_ome_using_subcommand discover" -l strict -d 'Findings of level warning count as errors'
complete -c ome -n "__fish_ome_using_subcommand discover" -l update -d 'Rewrite classes on disk that follow the nodes and differ; with `-o dir=PATH`. Fields that only the class has are kept, comments in it are not'
complete -c ome -n "__fish_ome_using_subcommand discover" -l measured -d 'Write memory as labels report it (`81559Mi`), not the nominal size (`80Gi`)'
complete -c ome -n "__fish_ome_using_subcommand discover" -l nominal-memory -d 'Compare memory bounds of classes with nominal sizes (80Gi), not with labels (81559 MiB)'
complete -c ome -n "__fish_ome_using_subcommand discover" -l status -d 'With `-o json`: nodes and devices of each class, all and free after the Pods that were read'
complete -c ome -n "__fish_ome_using_subcommand discover" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand discover" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand discover" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand discover" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand import" -s f -l filename -d 'Files or directories of the models, for `--all`. Without it, the current directory' -r -F
complete -c ome -n "__fish_ome_using_subcommand import" -l model-configs -d 'Look for `hf://…` in this directory first: ORG/NAME/config.json or ORG--NAME.json' -r -F
complete -c ome -n "__fish_ome_using_subcommand import" -l hf-cache -d 'Look for `hf://…` in the cache of the Hugging Face Hub first; `--all` and `--offline` do so anyway [default directory: HF_HUB_CACHE, or hub in HF_HOME]' -r -F
complete -c ome -n "__fish_ome_using_subcommand import" -l timeout -d 'Seconds that one file of the Hub may take [default: 30]' -r
complete -c ome -n "__fish_ome_using_subcommand import" -l index -d 'The model.safetensors.index.json; one beside the config is read by default' -r -F
complete -c ome -n "__fish_ome_using_subcommand import" -l into -d 'Put the values into the BaseModel or ClusterBaseModel of this file; comments and layout stay' -r -F
complete -c ome -n "__fish_ome_using_subcommand import" -l name -d 'Which model, when the file has several; without `--into`, the name of the printed one' -r
complete -c ome -n "__fish_ome_using_subcommand import" -l size -d 'Parameters of the model, such as 7B, instead of counting them' -r
complete -c ome -n "__fish_ome_using_subcommand import" -l storage-uri -d 'Where the model is stored, for the printed one [default: the argument, when it is `hf://…`]' -r
complete -c ome -n "__fish_ome_using_subcommand import" -s o -l output -d 'Output format' -r -f -a "yaml\t'The model, or with `--into` the fields that changed'
json\t'One JSON document; its schema has a version'"
complete -c ome -n "__fish_ome_using_subcommand import" -l max-file-size -d 'Largest file that is read [default: 512MiB, of which one object has at most 8MiB]' -r
complete -c ome -n "__fish_ome_using_subcommand import" -l max-depth -d 'Deepest nesting of a document [default: 64]' -r
complete -c ome -n "__fish_ome_using_subcommand import" -l max-nodes -d 'Most nodes of a document, aliases expanded [default: 1000000]' -r
complete -c ome -n "__fish_ome_using_subcommand import" -l max-files -d 'Most files that are read below the paths of `-f` [default: 50000]' -r
complete -c ome -n "__fish_ome_using_subcommand import" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand import" -l all -d 'Complete every model of the files in place whose storageUri is `hf://…`: from `--model-configs`, the cache of the Hub, then the Hub'
complete -c ome -n "__fish_ome_using_subcommand import" -l offline -d 'Open no connection: `hf://…` is read from `--model-configs` and the cache of the Hub. Also with HF_HUB_OFFLINE=1'
complete -c ome -n "__fish_ome_using_subcommand import" -l overwrite -d 'Replace values that differ; without it they are kept and reported'
complete -c ome -n "__fish_ome_using_subcommand import" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand import" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand import" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand plan" -s f -l filename -d 'File, directory or `-`; repeatable [default: the current directory]' -r -F
complete -c ome -n "__fish_ome_using_subcommand plan" -l presets -d 'File or directory with the LLMInferenceServiceConfigs of the cluster, read besides the input; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand plan" -s k -l kustomize -d 'Kustomize directory, which is built; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand plan" -l kustomize-command -d 'Program that builds the directories of `-k`, with its arguments [default: the first of `kustomize build` and `kubectl kustomize` on PATH]' -r
complete -c ome -n "__fish_ome_using_subcommand plan" -l overlays -d 'Whether overlays below `-f` are built [default: never]' -r -f -a "auto\t'Those whose files are all in the repository'
never\t'None'"
complete -c ome -n "__fish_ome_using_subcommand plan" -s n -l namespace -d 'Only the services of a namespace' -r
complete -c ome -n "__fish_ome_using_subcommand plan" -s l -l selector -d 'Only services whose labels match the selector, as kubectl\'s' -r
complete -c ome -n "__fish_ome_using_subcommand plan" -l builtin -d 'When the built-in catalog is used [default: auto]' -r -f -a "auto\t'Runtimes where the input has none of that API, accelerator classes where it has none and has Nodes of the class, and objects that the input names. None for a live cluster, an input with `metadata.uid`'
always\t'Beside the runtimes and classes of the input'
never\t'Not at all, not by name either'"
complete -c ome -n "__fish_ome_using_subcommand plan" -l no-builtin -d 'The same as `--builtin never`' -r -f -a "true\t''
false\t''"
complete -c ome -n "__fish_ome_using_subcommand plan" -l semantics -d 'Follow the published documents, or the code of the controllers' -r -f -a "documented\t'The documents as written'
controller\t'As the code of the operators decides'"
complete -c ome -n "__fish_ome_using_subcommand plan" -l release -d 'Follow a release of an operator, as `ome=v0.1.4`; repeatable' -r -f -a "kserve=v0.19.0\t''
kserve=v0.20.0\t''
kserve=head\t''
kserve=odh\t''
kthena=v0.1.0\t''
kthena=v0.4.0\t''
kthena=v1.0.0\t''
kthena=head\t''
kubernetes=1.35\t''
kubernetes=1.36\t''
kubernetes=1.37\t''
lws=v0.7.0\t''
lws=v0.8.0\t''
lws=v0.9.0\t''
lws=v0.10.0\t''
ome=v0.1.3\t''
ome=v0.1.4\t''
ome=v0.1.5\t''
ome=17b77eda\t''
ome=v1.1.0\t''
ome=v1.2.0\t''
ome=v1.2.2\t''
ome=head\t''"
complete -c ome -n "__fish_ome_using_subcommand plan" -l kthena-profile -d 'A release of Kthena whose behavior ModelServings follow instead of the document\'s; manifests are read as the documents read them' -r -f -a "v0.1\t'v0.1.0 of 2025-10'
v1.0\t'v1.0.0 of 2026-07'
head\t'volcano-sh/kthena @3cc0572, as under controller semantics'"
complete -c ome -n "__fish_ome_using_subcommand plan" -l deployment-mode -d 'Default deployment mode for KServe InferenceServices without the annotation' -r -f -a "RawDeployment\t''
Serverless\t''
Standard\t''
Knative\t''"
complete -c ome -n "__fish_ome_using_subcommand plan" -l model-configs -d 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory' -r -F
complete -c ome -n "__fish_ome_using_subcommand plan" -l hf-cache -d 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]' -r -F
complete -c ome -n "__fish_ome_using_subcommand plan" -l model-facts -d 'Whether models are completed from the built-in table of published models [default: auto]' -r -f -a "auto\t'For what manifests and config.json files leave out. Not with `--semantics controller --no-builtin`, which decides as the controller does on the objects that are read, before the model agent has completed any'
always\t'For values that manifests and config.json files do not set, in every mode'
never\t'Not at all'"
complete -c ome -n "__fish_ome_using_subcommand plan" -l device-tolerations -d 'Whether pods tolerate the taints of the devices that they request, as the admission plugin ExtendedResourceToleration makes them [default: assume]' -r -f -a "assume\t'They do, unless pods of the input show that they do not'
never\t'They have only the tolerations that they state'"
complete -c ome -n "__fish_ome_using_subcommand plan" -l config -d 'Settings file; by default `ome.toml` is searched upward from the working directory, and `$XDG_CONFIG_HOME/ome/config.toml` has what it leaves out' -r -F
complete -c ome -n "__fish_ome_using_subcommand plan" -l exclude -d 'Files and directories below `-f` that are not read, as in `.gitignore`; repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand plan" -l in -d 'Use the definitions of this directory where there are several' -r -f -a "(__fish_complete_directories)"
complete -c ome -n "__fish_ome_using_subcommand plan" -l max-file-size -d 'Largest file that is read [default: 512MiB, of which one object has at most 8MiB]' -r
complete -c ome -n "__fish_ome_using_subcommand plan" -l max-depth -d 'Deepest nesting of a document [default: 64]' -r
complete -c ome -n "__fish_ome_using_subcommand plan" -l max-nodes -d 'Most nodes of a document, aliases expanded [default: 1000000]' -r
complete -c ome -n "__fish_ome_using_subcommand plan" -l max-files -d 'Most files that are read below the paths of `-f` [default: 50000]' -r
complete -c ome -n "__fish_ome_using_subcommand plan" -l jobs -d 'Threads, at most 4 per core; the output does not depend on it [default: one per core]' -r
complete -c ome -n "__fish_ome_using_subcommand plan" -s o -l output -d 'Output format' -r -f -a "table\t'A table; names are shortened where it does not fit the terminal'
wide\t'The table with further columns, every service in full'
name\t'A line per service: KIND/NAMESPACE/NAME'
json\t'One JSON document; its schema has a version'
yaml\t'The same document as YAML'
markdown\t'Markdown that fits a pull request comment'
html\t'A single HTML page'"
complete -c ome -n "__fish_ome_using_subcommand plan" -l at -d 'Place minReplicas, maxReplicas of everything at once, or what the input says runs' -r -f -a "min\t'minReplicas'
max\t'maxReplicas of everything at once'
current\t'As running pods and `spec.replicas` in the input have it'"
complete -c ome -n "__fish_ome_using_subcommand plan" -l without -d 'Plan without these nodes: node=NAME, zone=NAME, class=NAME or the label KEY=VALUE; repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand plan" -l each -d 'Lose every node, zone or class, one after the other, and show which losses leave pods without a node' -r -f -a "node\t'Every node'
zone\t'Every zone'
class\t'Every accelerator class with nodes'"
complete -c ome -n "__fish_ome_using_subcommand plan" -l protocol -d 'The requested protocol of every service; overrides the services' -r
complete -c ome -n "__fish_ome_using_subcommand plan" -l feature-gates -d 'Comma-separated NAME=true or NAME=false. Known gate: AcceleratorAwareScheduling (default true)' -r
complete -c ome -n "__fish_ome_using_subcommand plan" -l request-size -d 'Size of requests in tokens (`k` = 1000), for conditions of preferences; over the annotation' -r
complete -c ome -n "__fish_ome_using_subcommand plan" -l args-order -d 'Order of arguments: runtime, service, accelerator; accelerator, runtime, service; runtime, accelerator, service' -r -f -a "default\t'Runtime, service, accelerator'
accelerator-first\t'Accelerator, runtime, service'
hierarchy\t'Runtime, accelerator, service'"
complete -c ome -n "__fish_ome_using_subcommand plan" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand plan" -l follow-outside -d 'Read what links and `paths` of ome.toml lead to outside of the named paths'
complete -c ome -n "__fish_ome_using_subcommand plan" -s R -l recursive -d 'Directories are always read recursively; accepted because kubectl requires it'
complete -c ome -n "__fish_ome_using_subcommand plan" -s A -l all-namespaces -d 'Services of all namespaces (the default without `-n`)'
complete -c ome -n "__fish_ome_using_subcommand plan" -l partial -d 'Do not report references to objects that were not loaded'
complete -c ome -n "__fish_ome_using_subcommand plan" -l no-config -d 'Read no settings file'
complete -c ome -n "__fish_ome_using_subcommand plan" -l strict -d 'Findings of level warning count as errors'
complete -c ome -n "__fish_ome_using_subcommand plan" -l all -d 'Show every service, also of more than 200'
complete -c ome -n "__fish_ome_using_subcommand plan" -l watch -d 'Run again whenever the input changes'
complete -c ome -n "__fish_ome_using_subcommand plan" -l strict-preferred -d 'Fail if no preferred class is eligible'
complete -c ome -n "__fish_ome_using_subcommand plan" -l allow-unknown -d 'A preferred class passes although its capabilities are unknown'
complete -c ome -n "__fish_ome_using_subcommand plan" -l strict-cost -d 'Fail if no class is under the cost threshold'
complete -c ome -n "__fish_ome_using_subcommand plan" -l dedupe-args -d 'Drop duplicate flags: the service\'s value wins, otherwise the last one'
complete -c ome -n "__fish_ome_using_subcommand plan" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand plan" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand plan" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand plan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand explain" -s f -l filename -d 'File, directory or `-`; repeatable [default: the current directory]' -r -F
complete -c ome -n "__fish_ome_using_subcommand explain" -l presets -d 'File or directory with the LLMInferenceServiceConfigs of the cluster, read besides the input; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand explain" -s k -l kustomize -d 'Kustomize directory, which is built; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand explain" -l kustomize-command -d 'Program that builds the directories of `-k`, with its arguments [default: the first of `kustomize build` and `kubectl kustomize` on PATH]' -r
complete -c ome -n "__fish_ome_using_subcommand explain" -l overlays -d 'Whether overlays below `-f` are built [default: never]' -r -f -a "auto\t'Those whose files are all in the repository'
never\t'None'"
complete -c ome -n "__fish_ome_using_subcommand explain" -s n -l namespace -d 'Only the services of a namespace' -r
complete -c ome -n "__fish_ome_using_subcommand explain" -s l -l selector -d 'Only services whose labels match the selector, as kubectl\'s' -r
complete -c ome -n "__fish_ome_using_subcommand explain" -l builtin -d 'When the built-in catalog is used [default: auto]' -r -f -a "auto\t'Runtimes where the input has none of that API, accelerator classes where it has none and has Nodes of the class, and objects that the input names. None for a live cluster, an input with `metadata.uid`'
always\t'Beside the runtimes and classes of the input'
never\t'Not at all, not by name either'"
complete -c ome -n "__fish_ome_using_subcommand explain" -l no-builtin -d 'The same as `--builtin never`' -r -f -a "true\t''
false\t''"
complete -c ome -n "__fish_ome_using_subcommand explain" -l semantics -d 'Follow the published documents, or the code of the controllers' -r -f -a "documented\t'The documents as written'
controller\t'As the code of the operators decides'"
complete -c ome -n "__fish_ome_using_subcommand explain" -l release -d 'Follow a release of an operator, as `ome=v0.1.4`; repeatable' -r -f -a "kserve=v0.19.0\t''
kserve=v0.20.0\t''
kserve=head\t''
kserve=odh\t''
kthena=v0.1.0\t''
kthena=v0.4.0\t''
kthena=v1.0.0\t''
kthena=head\t''
kubernetes=1.35\t''
kubernetes=1.36\t''
kubernetes=1.37\t''
lws=v0.7.0\t''
lws=v0.8.0\t''
lws=v0.9.0\t''
lws=v0.10.0\t''
ome=v0.1.3\t''
ome=v0.1.4\t''
ome=v0.1.5\t''
ome=17b77eda\t''
ome=v1.1.0\t''
ome=v1.2.0\t''
ome=v1.2.2\t''
ome=head\t''"
complete -c ome -n "__fish_ome_using_subcommand explain" -l kthena-profile -d 'A release of Kthena whose behavior ModelServings follow instead of the document\'s; manifests are read as the documents read them' -r -f -a "v0.1\t'v0.1.0 of 2025-10'
v1.0\t'v1.0.0 of 2026-07'
head\t'volcano-sh/kthena @3cc0572, as under controller semantics'"
complete -c ome -n "__fish_ome_using_subcommand explain" -l deployment-mode -d 'Default deployment mode for KServe InferenceServices without the annotation' -r -f -a "RawDeployment\t''
Serverless\t''
Standard\t''
Knative\t''"
complete -c ome -n "__fish_ome_using_subcommand explain" -l model-configs -d 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory' -r -F
complete -c ome -n "__fish_ome_using_subcommand explain" -l hf-cache -d 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]' -r -F
complete -c ome -n "__fish_ome_using_subcommand explain" -l model-facts -d 'Whether models are completed from the built-in table of published models [default: auto]' -r -f -a "auto\t'For what manifests and config.json files leave out. Not with `--semantics controller --no-builtin`, which decides as the controller does on the objects that are read, before the model agent has completed any'
always\t'For values that manifests and config.json files do not set, in every mode'
never\t'Not at all'"
complete -c ome -n "__fish_ome_using_subcommand explain" -l device-tolerations -d 'Whether pods tolerate the taints of the devices that they request, as the admission plugin ExtendedResourceToleration makes them [default: assume]' -r -f -a "assume\t'They do, unless pods of the input show that they do not'
never\t'They have only the tolerations that they state'"
complete -c ome -n "__fish_ome_using_subcommand explain" -l config -d 'Settings file; by default `ome.toml` is searched upward from the working directory, and `$XDG_CONFIG_HOME/ome/config.toml` has what it leaves out' -r -F
complete -c ome -n "__fish_ome_using_subcommand explain" -l exclude -d 'Files and directories below `-f` that are not read, as in `.gitignore`; repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand explain" -l in -d 'Use the definitions of this directory where there are several' -r -f -a "(__fish_complete_directories)"
complete -c ome -n "__fish_ome_using_subcommand explain" -l max-file-size -d 'Largest file that is read [default: 512MiB, of which one object has at most 8MiB]' -r
complete -c ome -n "__fish_ome_using_subcommand explain" -l max-depth -d 'Deepest nesting of a document [default: 64]' -r
complete -c ome -n "__fish_ome_using_subcommand explain" -l max-nodes -d 'Most nodes of a document, aliases expanded [default: 1000000]' -r
complete -c ome -n "__fish_ome_using_subcommand explain" -l max-files -d 'Most files that are read below the paths of `-f` [default: 50000]' -r
complete -c ome -n "__fish_ome_using_subcommand explain" -l jobs -d 'Threads, at most 4 per core; the output does not depend on it [default: one per core]' -r
complete -c ome -n "__fish_ome_using_subcommand explain" -l runtime -d 'Why not this runtime, and the smallest edit that would make it win' -r
complete -c ome -n "__fish_ome_using_subcommand explain" -s o -l output -d 'Output format' -r -f -a "table\t'Tables'
wide\t'The tables with every candidate, as with `--all`'
name\t'A line per service: KIND/NAMESPACE/NAME'
json\t'One JSON document; its schema has a version'
yaml\t'The same document as YAML'
markdown\t'Headings, lists and tables, for a comment'
html\t'A single HTML page'
mermaid\t'A graph: service, runtime, classes, nodes and flavors'"
complete -c ome -n "__fish_ome_using_subcommand explain" -l protocol -d 'The requested protocol of every service; overrides the services' -r
complete -c ome -n "__fish_ome_using_subcommand explain" -l feature-gates -d 'Comma-separated NAME=true or NAME=false. Known gate: AcceleratorAwareScheduling (default true)' -r
complete -c ome -n "__fish_ome_using_subcommand explain" -l request-size -d 'Size of requests in tokens (`k` = 1000), for conditions of preferences; over the annotation' -r
complete -c ome -n "__fish_ome_using_subcommand explain" -l args-order -d 'Order of arguments: runtime, service, accelerator; accelerator, runtime, service; runtime, accelerator, service' -r -f -a "default\t'Runtime, service, accelerator'
accelerator-first\t'Accelerator, runtime, service'
hierarchy\t'Runtime, accelerator, service'"
complete -c ome -n "__fish_ome_using_subcommand explain" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand explain" -l follow-outside -d 'Read what links and `paths` of ome.toml lead to outside of the named paths'
complete -c ome -n "__fish_ome_using_subcommand explain" -s R -l recursive -d 'Directories are always read recursively; accepted because kubectl requires it'
complete -c ome -n "__fish_ome_using_subcommand explain" -s A -l all-namespaces -d 'Services of all namespaces (the default without `-n`)'
complete -c ome -n "__fish_ome_using_subcommand explain" -l partial -d 'Do not report references to objects that were not loaded'
complete -c ome -n "__fish_ome_using_subcommand explain" -l no-config -d 'Read no settings file'
complete -c ome -n "__fish_ome_using_subcommand explain" -l strict -d 'Findings of level warning count as errors'
complete -c ome -n "__fish_ome_using_subcommand explain" -l all -d 'Show every candidate, not only the nearest misses'
complete -c ome -n "__fish_ome_using_subcommand explain" -l comparisons -d 'Show every comparison of every entry'
complete -c ome -n "__fish_ome_using_subcommand explain" -l merge -d 'Also show every variable, argument, resource and node selector with its source and the values that it overrides'
complete -c ome -n "__fish_ome_using_subcommand explain" -l watch -d 'Run again whenever the input changes'
complete -c ome -n "__fish_ome_using_subcommand explain" -l strict-preferred -d 'Fail if no preferred class is eligible'
complete -c ome -n "__fish_ome_using_subcommand explain" -l allow-unknown -d 'A preferred class passes although its capabilities are unknown'
complete -c ome -n "__fish_ome_using_subcommand explain" -l strict-cost -d 'Fail if no class is under the cost threshold'
complete -c ome -n "__fish_ome_using_subcommand explain" -l dedupe-args -d 'Drop duplicate flags: the service\'s value wins, otherwise the last one'
complete -c ome -n "__fish_ome_using_subcommand explain" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand explain" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand explain" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand why" -s f -l filename -d 'File, directory or `-`; repeatable [default: the current directory]' -r -F
complete -c ome -n "__fish_ome_using_subcommand why" -l presets -d 'File or directory with the LLMInferenceServiceConfigs of the cluster, read besides the input; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand why" -s k -l kustomize -d 'Kustomize directory, which is built; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand why" -l kustomize-command -d 'Program that builds the directories of `-k`, with its arguments [default: the first of `kustomize build` and `kubectl kustomize` on PATH]' -r
complete -c ome -n "__fish_ome_using_subcommand why" -l overlays -d 'Whether overlays below `-f` are built [default: never]' -r -f -a "auto\t'Those whose files are all in the repository'
never\t'None'"
complete -c ome -n "__fish_ome_using_subcommand why" -s n -l namespace -d 'Only the services of a namespace' -r
complete -c ome -n "__fish_ome_using_subcommand why" -s l -l selector -d 'Only services whose labels match the selector, as kubectl\'s' -r
complete -c ome -n "__fish_ome_using_subcommand why" -l builtin -d 'When the built-in catalog is used [default: auto]' -r -f -a "auto\t'Runtimes where the input has none of that API, accelerator classes where it has none and has Nodes of the class, and objects that the input names. None for a live cluster, an input with `metadata.uid`'
always\t'Beside the runtimes and classes of the input'
never\t'Not at all, not by name either'"
complete -c ome -n "__fish_ome_using_subcommand why" -l no-builtin -d 'The same as `--builtin never`' -r -f -a "true\t''
false\t''"
complete -c ome -n "__fish_ome_using_subcommand why" -l semantics -d 'Follow the published documents, or the code of the controllers' -r -f -a "documented\t'The documents as written'
controller\t'As the code of the operators decides'"
complete -c ome -n "__fish_ome_using_subcommand why" -l release -d 'Follow a release of an operator, as `ome=v0.1.4`; repeatable' -r -f -a "kserve=v0.19.0\t''
kserve=v0.20.0\t''
kserve=head\t''
kserve=odh\t''
kthena=v0.1.0\t''
kthena=v0.4.0\t''
kthena=v1.0.0\t''
kthena=head\t''
kubernetes=1.35\t''
kubernetes=1.36\t''
kubernetes=1.37\t''
lws=v0.7.0\t''
lws=v0.8.0\t''
lws=v0.9.0\t''
lws=v0.10.0\t''
ome=v0.1.3\t''
ome=v0.1.4\t''
ome=v0.1.5\t''
ome=17b77eda\t''
ome=v1.1.0\t''
ome=v1.2.0\t''
ome=v1.2.2\t''
ome=head\t''"
complete -c ome -n "__fish_ome_using_subcommand why" -l kthena-profile -d 'A release of Kthena whose behavior ModelServings follow instead of the document\'s; manifests are read as the documents read them' -r -f -a "v0.1\t'v0.1.0 of 2025-10'
v1.0\t'v1.0.0 of 2026-07'
head\t'volcano-sh/kthena @3cc0572, as under controller semantics'"
complete -c ome -n "__fish_ome_using_subcommand why" -l deployment-mode -d 'Default deployment mode for KServe InferenceServices without the annotation' -r -f -a "RawDeployment\t''
Serverless\t''
Standard\t''
Knative\t''"
complete -c ome -n "__fish_ome_using_subcommand why" -l model-configs -d 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory' -r -F
complete -c ome -n "__fish_ome_using_subcommand why" -l hf-cache -d 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]' -r -F
complete -c ome -n "__fish_ome_using_subcommand why" -l model-facts -d 'Whether models are completed from the built-in table of published models [default: auto]' -r -f -a "auto\t'For what manifests and config.json files leave out. Not with `--semantics controller --no-builtin`, which decides as the controller does on the objects that are read, before the model agent has completed any'
always\t'For values that manifests and config.json files do not set, in every mode'
never\t'Not at all'"
complete -c ome -n "__fish_ome_using_subcommand why" -l device-tolerations -d 'Whether pods tolerate the taints of the devices that they request, as the admission plugin ExtendedResourceToleration makes them [default: assume]' -r -f -a "assume\t'They do, unless pods of the input show that they do not'
never\t'They have only the tolerations that they state'"
complete -c ome -n "__fish_ome_using_subcommand why" -l config -d 'Settings file; by default `ome.toml` is searched upward from the working directory, and `$XDG_CONFIG_HOME/ome/config.toml` has what it leaves out' -r -F
complete -c ome -n "__fish_ome_using_subcommand why" -l exclude -d 'Files and directories below `-f` that are not read, as in `.gitignore`; repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand why" -l in -d 'Use the definitions of this directory where there are several' -r -f -a "(__fish_complete_directories)"
complete -c ome -n "__fish_ome_using_subcommand why" -l max-file-size -d 'Largest file that is read [default: 512MiB, of which one object has at most 8MiB]' -r
complete -c ome -n "__fish_ome_using_subcommand why" -l max-depth -d 'Deepest nesting of a document [default: 64]' -r
complete -c ome -n "__fish_ome_using_subcommand why" -l max-nodes -d 'Most nodes of a document, aliases expanded [default: 1000000]' -r
complete -c ome -n "__fish_ome_using_subcommand why" -l max-files -d 'Most files that are read below the paths of `-f` [default: 50000]' -r
complete -c ome -n "__fish_ome_using_subcommand why" -l jobs -d 'Threads, at most 4 per core; the output does not depend on it [default: one per core]' -r
complete -c ome -n "__fish_ome_using_subcommand why" -s o -l output -d 'Output format' -r -f -a "table\t'Tables'
json\t'One JSON document; its schema has a version'
yaml\t'The same document as YAML'"
complete -c ome -n "__fish_ome_using_subcommand why" -l workload -d 'The workload around the pods of engine and decoder' -r -f -a "auto\t'The kind that the operator writes in the deployment mode'
deployment\t'Deployments'
lws\t'LeaderWorkerSets'
modelserving\t'One ModelServing of Kthena'"
complete -c ome -n "__fish_ome_using_subcommand why" -l cluster-domain -d 'The cluster\'s DNS domain' -r
complete -c ome -n "__fish_ome_using_subcommand why" -l protocol -d 'The requested protocol of every service; overrides the services' -r
complete -c ome -n "__fish_ome_using_subcommand why" -l feature-gates -d 'Comma-separated NAME=true or NAME=false. Known gate: AcceleratorAwareScheduling (default true)' -r
complete -c ome -n "__fish_ome_using_subcommand why" -l request-size -d 'Size of requests in tokens (`k` = 1000), for conditions of preferences; over the annotation' -r
complete -c ome -n "__fish_ome_using_subcommand why" -l args-order -d 'Order of arguments: runtime, service, accelerator; accelerator, runtime, service; runtime, accelerator, service' -r -f -a "default\t'Runtime, service, accelerator'
accelerator-first\t'Accelerator, runtime, service'
hierarchy\t'Runtime, accelerator, service'"
complete -c ome -n "__fish_ome_using_subcommand why" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand why" -l follow-outside -d 'Read what links and `paths` of ome.toml lead to outside of the named paths'
complete -c ome -n "__fish_ome_using_subcommand why" -s R -l recursive -d 'Directories are always read recursively; accepted because kubectl requires it'
complete -c ome -n "__fish_ome_using_subcommand why" -s A -l all-namespaces -d 'Services of all namespaces (the default without `-n`)'
complete -c ome -n "__fish_ome_using_subcommand why" -l partial -d 'Do not report references to objects that were not loaded'
complete -c ome -n "__fish_ome_using_subcommand why" -l no-config -d 'Read no settings file'
complete -c ome -n "__fish_ome_using_subcommand why" -l strict -d 'Findings of level warning count as errors'
complete -c ome -n "__fish_ome_using_subcommand why" -l strict-preferred -d 'Fail if no preferred class is eligible'
complete -c ome -n "__fish_ome_using_subcommand why" -l allow-unknown -d 'A preferred class passes although its capabilities are unknown'
complete -c ome -n "__fish_ome_using_subcommand why" -l strict-cost -d 'Fail if no class is under the cost threshold'
complete -c ome -n "__fish_ome_using_subcommand why" -l dedupe-args -d 'Drop duplicate flags: the service\'s value wins, otherwise the last one'
complete -c ome -n "__fish_ome_using_subcommand why" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand why" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand why" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand why" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand render" -s f -l filename -d 'File, directory or `-`; repeatable [default: the current directory]' -r -F
complete -c ome -n "__fish_ome_using_subcommand render" -l presets -d 'File or directory with the LLMInferenceServiceConfigs of the cluster, read besides the input; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand render" -s k -l kustomize -d 'Kustomize directory, which is built; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand render" -l kustomize-command -d 'Program that builds the directories of `-k`, with its arguments [default: the first of `kustomize build` and `kubectl kustomize` on PATH]' -r
complete -c ome -n "__fish_ome_using_subcommand render" -l overlays -d 'Whether overlays below `-f` are built [default: never]' -r -f -a "auto\t'Those whose files are all in the repository'
never\t'None'"
complete -c ome -n "__fish_ome_using_subcommand render" -s n -l namespace -d 'Only the services of a namespace' -r
complete -c ome -n "__fish_ome_using_subcommand render" -s l -l selector -d 'Only services whose labels match the selector, as kubectl\'s' -r
complete -c ome -n "__fish_ome_using_subcommand render" -l builtin -d 'When the built-in catalog is used [default: auto]' -r -f -a "auto\t'Runtimes where the input has none of that API, accelerator classes where it has none and has Nodes of the class, and objects that the input names. None for a live cluster, an input with `metadata.uid`'
always\t'Beside the runtimes and classes of the input'
never\t'Not at all, not by name either'"
complete -c ome -n "__fish_ome_using_subcommand render" -l no-builtin -d 'The same as `--builtin never`' -r -f -a "true\t''
false\t''"
complete -c ome -n "__fish_ome_using_subcommand render" -l semantics -d 'Follow the published documents, or the code of the controllers' -r -f -a "documented\t'The documents as written'
controller\t'As the code of the operators decides'"
complete -c ome -n "__fish_ome_using_subcommand render" -l release -d 'Follow a release of an operator, as `ome=v0.1.4`; repeatable' -r -f -a "kserve=v0.19.0\t''
kserve=v0.20.0\t''
kserve=head\t''
kserve=odh\t''
kthena=v0.1.0\t''
kthena=v0.4.0\t''
kthena=v1.0.0\t''
kthena=head\t''
kubernetes=1.35\t''
kubernetes=1.36\t''
kubernetes=1.37\t''
lws=v0.7.0\t''
lws=v0.8.0\t''
lws=v0.9.0\t''
lws=v0.10.0\t''
ome=v0.1.3\t''
ome=v0.1.4\t''
ome=v0.1.5\t''
ome=17b77eda\t''
ome=v1.1.0\t''
ome=v1.2.0\t''
ome=v1.2.2\t''
ome=head\t''"
complete -c ome -n "__fish_ome_using_subcommand render" -l kthena-profile -d 'A release of Kthena whose behavior ModelServings follow instead of the document\'s; manifests are read as the documents read them' -r -f -a "v0.1\t'v0.1.0 of 2025-10'
v1.0\t'v1.0.0 of 2026-07'
head\t'volcano-sh/kthena @3cc0572, as under controller semantics'"
complete -c ome -n "__fish_ome_using_subcommand render" -l deployment-mode -d 'Default deployment mode for KServe InferenceServices without the annotation' -r -f -a "RawDeployment\t''
Serverless\t''
Standard\t''
Knative\t''"
complete -c ome -n "__fish_ome_using_subcommand render" -l model-configs -d 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory' -r -F
complete -c ome -n "__fish_ome_using_subcommand render" -l hf-cache -d 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]' -r -F
complete -c ome -n "__fish_ome_using_subcommand render" -l model-facts -d 'Whether models are completed from the built-in table of published models [default: auto]' -r -f -a "auto\t'For what manifests and config.json files leave out. Not with `--semantics controller --no-builtin`, which decides as the controller does on the objects that are read, before the model agent has completed any'
always\t'For values that manifests and config.json files do not set, in every mode'
never\t'Not at all'"
complete -c ome -n "__fish_ome_using_subcommand render" -l device-tolerations -d 'Whether pods tolerate the taints of the devices that they request, as the admission plugin ExtendedResourceToleration makes them [default: assume]' -r -f -a "assume\t'They do, unless pods of the input show that they do not'
never\t'They have only the tolerations that they state'"
complete -c ome -n "__fish_ome_using_subcommand render" -l config -d 'Settings file; by default `ome.toml` is searched upward from the working directory, and `$XDG_CONFIG_HOME/ome/config.toml` has what it leaves out' -r -F
complete -c ome -n "__fish_ome_using_subcommand render" -l exclude -d 'Files and directories below `-f` that are not read, as in `.gitignore`; repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand render" -l in -d 'Use the definitions of this directory where there are several' -r -f -a "(__fish_complete_directories)"
complete -c ome -n "__fish_ome_using_subcommand render" -l max-file-size -d 'Largest file that is read [default: 512MiB, of which one object has at most 8MiB]' -r
complete -c ome -n "__fish_ome_using_subcommand render" -l max-depth -d 'Deepest nesting of a document [default: 64]' -r
complete -c ome -n "__fish_ome_using_subcommand render" -l max-nodes -d 'Most nodes of a document, aliases expanded [default: 1000000]' -r
complete -c ome -n "__fish_ome_using_subcommand render" -l max-files -d 'Most files that are read below the paths of `-f` [default: 50000]' -r
complete -c ome -n "__fish_ome_using_subcommand render" -l jobs -d 'Threads, at most 4 per core; the output does not depend on it [default: one per core]' -r
complete -c ome -n "__fish_ome_using_subcommand render" -s o -l output -d '`yaml`, `json`, `name` (a line per object: KIND/NAMESPACE/NAME), or `dir=PATH`: one file per object under PATH/NAMESPACE/SERVICE/' -r
complete -c ome -n "__fish_ome_using_subcommand render" -l check -d 'Compare with a directory that `-o dir=` wrote, and write nothing' -r -F
complete -c ome -n "__fish_ome_using_subcommand render" -l layout -d 'Where `kustomization.yaml` is: one at the root, or one in each namespace and one at the root that lists the namespaces' -r -f -a "single\t'One at the root, which lists every object'
namespace\t'One in each namespace, and one at the root, which lists the namespaces'"
complete -c ome -n "__fish_ome_using_subcommand render" -l pass-through -d 'Print the documents of the input too, byte for byte and in their order, with the rendered objects in the place of each service: documents that `ome` does not use, or with `all` every document. Always on for a ResourceList' -r -f -a "foreign\t'Documents that `ome` does not use'
all\t'Also runtimes, models, accelerator classes and services'"
complete -c ome -n "__fish_ome_using_subcommand render" -l stage -d 'The output: the objects, or the components after every merge and before any object' -r -f -a "objects\t'Objects'
merged\t'Merged components'"
complete -c ome -n "__fish_ome_using_subcommand render" -l workload -d 'The workload around the pods of engine and decoder. With `deployment` or `lws` and a Volcano queue, a PodGroup too' -r -f -a "auto\t'The kind that the operator writes in the deployment mode'
deployment\t'Deployments'
lws\t'LeaderWorkerSets'
modelserving\t'One ModelServing of Kthena'"
complete -c ome -n "__fish_ome_using_subcommand render" -l cluster-domain -d 'The cluster\'s DNS domain' -r
complete -c ome -n "__fish_ome_using_subcommand render" -l protocol -d 'The requested protocol of every service; overrides the services' -r
complete -c ome -n "__fish_ome_using_subcommand render" -l feature-gates -d 'Comma-separated NAME=true or NAME=false. Known gate: AcceleratorAwareScheduling (default true)' -r
complete -c ome -n "__fish_ome_using_subcommand render" -l request-size -d 'Size of requests in tokens (`k` = 1000), for conditions of preferences; over the annotation' -r
complete -c ome -n "__fish_ome_using_subcommand render" -l args-order -d 'Order of arguments: runtime, service, accelerator; accelerator, runtime, service; runtime, accelerator, service' -r -f -a "default\t'Runtime, service, accelerator'
accelerator-first\t'Accelerator, runtime, service'
hierarchy\t'Runtime, accelerator, service'"
complete -c ome -n "__fish_ome_using_subcommand render" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand render" -l follow-outside -d 'Read what links and `paths` of ome.toml lead to outside of the named paths'
complete -c ome -n "__fish_ome_using_subcommand render" -s R -l recursive -d 'Directories are always read recursively; accepted because kubectl requires it'
complete -c ome -n "__fish_ome_using_subcommand render" -s A -l all-namespaces -d 'Services of all namespaces (the default without `-n`)'
complete -c ome -n "__fish_ome_using_subcommand render" -l partial -d 'Do not report references to objects that were not loaded'
complete -c ome -n "__fish_ome_using_subcommand render" -l no-config -d 'Read no settings file'
complete -c ome -n "__fish_ome_using_subcommand render" -l strict -d 'Findings of level warning count as errors'
complete -c ome -n "__fish_ome_using_subcommand render" -l diff -d 'Show the lines of files that differ'
complete -c ome -n "__fish_ome_using_subcommand render" -l force -d 'With `-o dir=`: overwrite and remove files that were edited by hand, and remove all files if the input has no service. Files that ome did not write stay in any case'
complete -c ome -n "__fish_ome_using_subcommand render" -l kustomization -d 'With `-o dir=` or `--check`: also `kustomization.yaml`, which lists the files'
complete -c ome -n "__fish_ome_using_subcommand render" -l annotate -d 'Add a comment with the source of each field and the value it overrode'
complete -c ome -n "__fish_ome_using_subcommand render" -l argocd-waves -d 'Annotate objects with Argo CD\'s sync waves, in the order of `ome rollout`: 0 for objects that pods need, 1 workloads, 2 router and Ingress, HTTPRoute or VirtualService, 3 autoscaler and PodDisruptionBudget'
complete -c ome -n "__fish_ome_using_subcommand render" -l expand -d 'Print the objects that the controller creates for a ModelServing in its place (PodGroups, pods, Services), and the containers that webhooks add to pods of KServe (storage initializer, agent). A preview, not to be applied'
complete -c ome -n "__fish_ome_using_subcommand render" -l v2-probes -d 'Add V2 probes to KServe servers that support the V2 protocol and have no probes'
complete -c ome -n "__fish_ome_using_subcommand render" -l strict-preferred -d 'Fail if no preferred class is eligible'
complete -c ome -n "__fish_ome_using_subcommand render" -l allow-unknown -d 'A preferred class passes although its capabilities are unknown'
complete -c ome -n "__fish_ome_using_subcommand render" -l strict-cost -d 'Fail if no class is under the cost threshold'
complete -c ome -n "__fish_ome_using_subcommand render" -l dedupe-args -d 'Drop duplicate flags: the service\'s value wins, otherwise the last one'
complete -c ome -n "__fish_ome_using_subcommand render" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand render" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand render" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand render" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand diff" -s f -l filename -d 'File, directory or `-`; repeatable [default: the current directory]' -r -F
complete -c ome -n "__fish_ome_using_subcommand diff" -l presets -d 'File or directory with the LLMInferenceServiceConfigs of the cluster, read besides the input; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand diff" -s k -l kustomize -d 'Kustomize directory, which is built; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand diff" -l kustomize-command -d 'Program that builds the directories of `-k`, with its arguments [default: the first of `kustomize build` and `kubectl kustomize` on PATH]' -r
complete -c ome -n "__fish_ome_using_subcommand diff" -l overlays -d 'Whether overlays below `-f` are built [default: never]' -r -f -a "auto\t'Those whose files are all in the repository'
never\t'None'"
complete -c ome -n "__fish_ome_using_subcommand diff" -s n -l namespace -d 'Only the services of a namespace' -r
complete -c ome -n "__fish_ome_using_subcommand diff" -s l -l selector -d 'Only services whose labels match the selector, as kubectl\'s' -r
complete -c ome -n "__fish_ome_using_subcommand diff" -l builtin -d 'When the built-in catalog is used [default: auto]' -r -f -a "auto\t'Runtimes where the input has none of that API, accelerator classes where it has none and has Nodes of the class, and objects that the input names. None for a live cluster, an input with `metadata.uid`'
always\t'Beside the runtimes and classes of the input'
never\t'Not at all, not by name either'"
complete -c ome -n "__fish_ome_using_subcommand diff" -l no-builtin -d 'The same as `--builtin never`' -r -f -a "true\t''
false\t''"
complete -c ome -n "__fish_ome_using_subcommand diff" -l semantics -d 'Follow the published documents, or the code of the controllers' -r -f -a "documented\t'The documents as written'
controller\t'As the code of the operators decides'"
complete -c ome -n "__fish_ome_using_subcommand diff" -l release -d 'Follow a release of an operator, as `ome=v0.1.4`; repeatable' -r -f -a "kserve=v0.19.0\t''
kserve=v0.20.0\t''
kserve=head\t''
kserve=odh\t''
kthena=v0.1.0\t''
kthena=v0.4.0\t''
kthena=v1.0.0\t''
kthena=head\t''
kubernetes=1.35\t''
kubernetes=1.36\t''
kubernetes=1.37\t''
lws=v0.7.0\t''
lws=v0.8.0\t''
lws=v0.9.0\t''
lws=v0.10.0\t''
ome=v0.1.3\t''
ome=v0.1.4\t''
ome=v0.1.5\t''
ome=17b77eda\t''
ome=v1.1.0\t''
ome=v1.2.0\t''
ome=v1.2.2\t''
ome=head\t''"
complete -c ome -n "__fish_ome_using_subcommand diff" -l kthena-profile -d 'A release of Kthena whose behavior ModelServings follow instead of the document\'s; manifests are read as the documents read them' -r -f -a "v0.1\t'v0.1.0 of 2025-10'
v1.0\t'v1.0.0 of 2026-07'
head\t'volcano-sh/kthena @3cc0572, as under controller semantics'"
complete -c ome -n "__fish_ome_using_subcommand diff" -l deployment-mode -d 'Default deployment mode for KServe InferenceServices without the annotation' -r -f -a "RawDeployment\t''
Serverless\t''
Standard\t''
Knative\t''"
complete -c ome -n "__fish_ome_using_subcommand diff" -l model-configs -d 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory' -r -F
complete -c ome -n "__fish_ome_using_subcommand diff" -l hf-cache -d 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]' -r -F
complete -c ome -n "__fish_ome_using_subcommand diff" -l model-facts -d 'Whether models are completed from the built-in table of published models [default: auto]' -r -f -a "auto\t'For what manifests and config.json files leave out. Not with `--semantics controller --no-builtin`, which decides as the controller does on the objects that are read, before the model agent has completed any'
always\t'For values that manifests and config.json files do not set, in every mode'
never\t'Not at all'"
complete -c ome -n "__fish_ome_using_subcommand diff" -l device-tolerations -d 'Whether pods tolerate the taints of the devices that they request, as the admission plugin ExtendedResourceToleration makes them [default: assume]' -r -f -a "assume\t'They do, unless pods of the input show that they do not'
never\t'They have only the tolerations that they state'"
complete -c ome -n "__fish_ome_using_subcommand diff" -l config -d 'Settings file; by default `ome.toml` is searched upward from the working directory, and `$XDG_CONFIG_HOME/ome/config.toml` has what it leaves out' -r -F
complete -c ome -n "__fish_ome_using_subcommand diff" -l exclude -d 'Files and directories below `-f` that are not read, as in `.gitignore`; repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand diff" -l in -d 'Use the definitions of this directory where there are several' -r -f -a "(__fish_complete_directories)"
complete -c ome -n "__fish_ome_using_subcommand diff" -l max-file-size -d 'Largest file that is read [default: 512MiB, of which one object has at most 8MiB]' -r
complete -c ome -n "__fish_ome_using_subcommand diff" -l max-depth -d 'Deepest nesting of a document [default: 64]' -r
complete -c ome -n "__fish_ome_using_subcommand diff" -l max-nodes -d 'Most nodes of a document, aliases expanded [default: 1000000]' -r
complete -c ome -n "__fish_ome_using_subcommand diff" -l max-files -d 'Most files that are read below the paths of `-f` [default: 50000]' -r
complete -c ome -n "__fish_ome_using_subcommand diff" -l jobs -d 'Threads, at most 4 per core; the output does not depend on it [default: one per core]' -r
complete -c ome -n "__fish_ome_using_subcommand diff" -l base -d 'The state before: a path (repeatable), `-` for standard input, or a git revision [default: the merge base with the default branch]' -r
complete -c ome -n "__fish_ome_using_subcommand diff" -l fail-on -d 'The changes that make the exit code 2, instead of any change; repeatable, and one is enough: `restarts`, `errors` (new ones), `gpus>N` and `cost>N` (N more than before, in GPUs and in $/hour), `does-not-fit`, `any`' -r
complete -c ome -n "__fish_ome_using_subcommand diff" -l from-release -d 'The release of an operator before its upgrade, as `ome=v0.1.4`' -r -f -a "kserve=v0.19.0\t''
kserve=v0.20.0\t''
kserve=head\t''
kserve=odh\t''
kthena=v0.1.0\t''
kthena=v0.4.0\t''
kthena=v1.0.0\t''
kthena=head\t''
kubernetes=1.35\t''
kubernetes=1.36\t''
kubernetes=1.37\t''
lws=v0.7.0\t''
lws=v0.8.0\t''
lws=v0.9.0\t''
lws=v0.10.0\t''
ome=v0.1.3\t''
ome=v0.1.4\t''
ome=v0.1.5\t''
ome=17b77eda\t''
ome=v1.1.0\t''
ome=v1.2.0\t''
ome=v1.2.2\t''
ome=head\t''"
complete -c ome -n "__fish_ome_using_subcommand diff" -l to-release -d 'The release after the upgrade' -r -f -a "kserve=v0.19.0\t''
kserve=v0.20.0\t''
kserve=head\t''
kserve=odh\t''
kthena=v0.1.0\t''
kthena=v0.4.0\t''
kthena=v1.0.0\t''
kthena=head\t''
kubernetes=1.35\t''
kubernetes=1.36\t''
kubernetes=1.37\t''
lws=v0.7.0\t''
lws=v0.8.0\t''
lws=v0.9.0\t''
lws=v0.10.0\t''
ome=v0.1.3\t''
ome=v0.1.4\t''
ome=v0.1.5\t''
ome=17b77eda\t''
ome=v1.1.0\t''
ome=v1.2.0\t''
ome=v1.2.2\t''
ome=head\t''"
complete -c ome -n "__fish_ome_using_subcommand diff" -l at -d 'Place minReplicas, maxReplicas of everything at once, or what the input says runs' -r -f -a "min\t'minReplicas'
max\t'maxReplicas of everything at once'
current\t'As running pods and `spec.replicas` in the input have it'"
complete -c ome -n "__fish_ome_using_subcommand diff" -s o -l output -d 'Output format' -r -f -a "table\t'Tables'
json\t'One JSON document; its schema has a version'
yaml\t'The same document as YAML'
markdown\t'Markdown that fits a pull request comment'
html\t'A single HTML page'"
complete -c ome -n "__fish_ome_using_subcommand diff" -l cluster-domain -d 'The cluster\'s DNS domain' -r
complete -c ome -n "__fish_ome_using_subcommand diff" -l protocol -d 'The requested protocol of every service; overrides the services' -r
complete -c ome -n "__fish_ome_using_subcommand diff" -l feature-gates -d 'Comma-separated NAME=true or NAME=false. Known gate: AcceleratorAwareScheduling (default true)' -r
complete -c ome -n "__fish_ome_using_subcommand diff" -l request-size -d 'Size of requests in tokens (`k` = 1000), for conditions of preferences; over the annotation' -r
complete -c ome -n "__fish_ome_using_subcommand diff" -l args-order -d 'Order of arguments: runtime, service, accelerator; accelerator, runtime, service; runtime, accelerator, service' -r -f -a "default\t'Runtime, service, accelerator'
accelerator-first\t'Accelerator, runtime, service'
hierarchy\t'Runtime, accelerator, service'"
complete -c ome -n "__fish_ome_using_subcommand diff" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand diff" -l follow-outside -d 'Read what links and `paths` of ome.toml lead to outside of the named paths'
complete -c ome -n "__fish_ome_using_subcommand diff" -s R -l recursive -d 'Directories are always read recursively; accepted because kubectl requires it'
complete -c ome -n "__fish_ome_using_subcommand diff" -s A -l all-namespaces -d 'Services of all namespaces (the default without `-n`)'
complete -c ome -n "__fish_ome_using_subcommand diff" -l partial -d 'Do not report references to objects that were not loaded'
complete -c ome -n "__fish_ome_using_subcommand diff" -l no-config -d 'Read no settings file'
complete -c ome -n "__fish_ome_using_subcommand diff" -l strict -d 'Findings of level warning count as errors'
complete -c ome -n "__fish_ome_using_subcommand diff" -l own-catalog -d 'Decide on each side with the runtimes that its release of OME ships; they replace those of the input that have their names'
complete -c ome -n "__fish_ome_using_subcommand diff" -l all -d 'Show every field of every object, not only what fits on a screen'
complete -c ome -n "__fish_ome_using_subcommand diff" -l watch -d 'Run again whenever the input changes'
complete -c ome -n "__fish_ome_using_subcommand diff" -l strict-preferred -d 'Fail if no preferred class is eligible'
complete -c ome -n "__fish_ome_using_subcommand diff" -l allow-unknown -d 'A preferred class passes although its capabilities are unknown'
complete -c ome -n "__fish_ome_using_subcommand diff" -l strict-cost -d 'Fail if no class is under the cost threshold'
complete -c ome -n "__fish_ome_using_subcommand diff" -l dedupe-args -d 'Drop duplicate flags: the service\'s value wins, otherwise the last one'
complete -c ome -n "__fish_ome_using_subcommand diff" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand diff" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand diff" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand drain" -s f -l filename -d 'File, directory or `-`; repeatable [default: the current directory]' -r -F
complete -c ome -n "__fish_ome_using_subcommand drain" -l presets -d 'File or directory with the LLMInferenceServiceConfigs of the cluster, read besides the input; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand drain" -s k -l kustomize -d 'Kustomize directory, which is built; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand drain" -l kustomize-command -d 'Program that builds the directories of `-k`, with its arguments [default: the first of `kustomize build` and `kubectl kustomize` on PATH]' -r
complete -c ome -n "__fish_ome_using_subcommand drain" -l overlays -d 'Whether overlays below `-f` are built [default: never]' -r -f -a "auto\t'Those whose files are all in the repository'
never\t'None'"
complete -c ome -n "__fish_ome_using_subcommand drain" -s n -l namespace -d 'Only the services of a namespace' -r
complete -c ome -n "__fish_ome_using_subcommand drain" -s l -l selector -d 'Only services whose labels match the selector, as kubectl\'s' -r
complete -c ome -n "__fish_ome_using_subcommand drain" -l builtin -d 'When the built-in catalog is used [default: auto]' -r -f -a "auto\t'Runtimes where the input has none of that API, accelerator classes where it has none and has Nodes of the class, and objects that the input names. None for a live cluster, an input with `metadata.uid`'
always\t'Beside the runtimes and classes of the input'
never\t'Not at all, not by name either'"
complete -c ome -n "__fish_ome_using_subcommand drain" -l no-builtin -d 'The same as `--builtin never`' -r -f -a "true\t''
false\t''"
complete -c ome -n "__fish_ome_using_subcommand drain" -l semantics -d 'Follow the published documents, or the code of the controllers' -r -f -a "documented\t'The documents as written'
controller\t'As the code of the operators decides'"
complete -c ome -n "__fish_ome_using_subcommand drain" -l release -d 'Follow a release of an operator, as `ome=v0.1.4`; repeatable' -r -f -a "kserve=v0.19.0\t''
kserve=v0.20.0\t''
kserve=head\t''
kserve=odh\t''
kthena=v0.1.0\t''
kthena=v0.4.0\t''
kthena=v1.0.0\t''
kthena=head\t''
kubernetes=1.35\t''
kubernetes=1.36\t''
kubernetes=1.37\t''
lws=v0.7.0\t''
lws=v0.8.0\t''
lws=v0.9.0\t''
lws=v0.10.0\t''
ome=v0.1.3\t''
ome=v0.1.4\t''
ome=v0.1.5\t''
ome=17b77eda\t''
ome=v1.1.0\t''
ome=v1.2.0\t''
ome=v1.2.2\t''
ome=head\t''"
complete -c ome -n "__fish_ome_using_subcommand drain" -l kthena-profile -d 'A release of Kthena whose behavior ModelServings follow instead of the document\'s; manifests are read as the documents read them' -r -f -a "v0.1\t'v0.1.0 of 2025-10'
v1.0\t'v1.0.0 of 2026-07'
head\t'volcano-sh/kthena @3cc0572, as under controller semantics'"
complete -c ome -n "__fish_ome_using_subcommand drain" -l deployment-mode -d 'Default deployment mode for KServe InferenceServices without the annotation' -r -f -a "RawDeployment\t''
Serverless\t''
Standard\t''
Knative\t''"
complete -c ome -n "__fish_ome_using_subcommand drain" -l model-configs -d 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory' -r -F
complete -c ome -n "__fish_ome_using_subcommand drain" -l hf-cache -d 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]' -r -F
complete -c ome -n "__fish_ome_using_subcommand drain" -l model-facts -d 'Whether models are completed from the built-in table of published models [default: auto]' -r -f -a "auto\t'For what manifests and config.json files leave out. Not with `--semantics controller --no-builtin`, which decides as the controller does on the objects that are read, before the model agent has completed any'
always\t'For values that manifests and config.json files do not set, in every mode'
never\t'Not at all'"
complete -c ome -n "__fish_ome_using_subcommand drain" -l device-tolerations -d 'Whether pods tolerate the taints of the devices that they request, as the admission plugin ExtendedResourceToleration makes them [default: assume]' -r -f -a "assume\t'They do, unless pods of the input show that they do not'
never\t'They have only the tolerations that they state'"
complete -c ome -n "__fish_ome_using_subcommand drain" -l config -d 'Settings file; by default `ome.toml` is searched upward from the working directory, and `$XDG_CONFIG_HOME/ome/config.toml` has what it leaves out' -r -F
complete -c ome -n "__fish_ome_using_subcommand drain" -l exclude -d 'Files and directories below `-f` that are not read, as in `.gitignore`; repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand drain" -l in -d 'Use the definitions of this directory where there are several' -r -f -a "(__fish_complete_directories)"
complete -c ome -n "__fish_ome_using_subcommand drain" -l max-file-size -d 'Largest file that is read [default: 512MiB, of which one object has at most 8MiB]' -r
complete -c ome -n "__fish_ome_using_subcommand drain" -l max-depth -d 'Deepest nesting of a document [default: 64]' -r
complete -c ome -n "__fish_ome_using_subcommand drain" -l max-nodes -d 'Most nodes of a document, aliases expanded [default: 1000000]' -r
complete -c ome -n "__fish_ome_using_subcommand drain" -l max-files -d 'Most files that are read below the paths of `-f` [default: 50000]' -r
complete -c ome -n "__fish_ome_using_subcommand drain" -l jobs -d 'Threads, at most 4 per core; the output does not depend on it [default: one per core]' -r
complete -c ome -n "__fish_ome_using_subcommand drain" -l nodes -d 'Find so many nodes that can be drained with the fewest pods to move' -r
complete -c ome -n "__fish_ome_using_subcommand drain" -l class -d 'Choose among the nodes of an accelerator class' -r
complete -c ome -n "__fish_ome_using_subcommand drain" -l at -d 'Place minReplicas, maxReplicas of everything at once, or what the input says runs' -r -f -a "min\t'minReplicas'
max\t'maxReplicas of everything at once'
current\t'As running pods and `spec.replicas` in the input have it'"
complete -c ome -n "__fish_ome_using_subcommand drain" -s o -l output -d 'Output format' -r -f -a "table\t'Tables'
json\t'One JSON document; its schema has a version'
yaml\t'The same document as YAML'
markdown\t'Markdown that fits a pull request comment'
html\t'A single HTML page'"
complete -c ome -n "__fish_ome_using_subcommand drain" -l protocol -d 'The requested protocol of every service; overrides the services' -r
complete -c ome -n "__fish_ome_using_subcommand drain" -l feature-gates -d 'Comma-separated NAME=true or NAME=false. Known gate: AcceleratorAwareScheduling (default true)' -r
complete -c ome -n "__fish_ome_using_subcommand drain" -l request-size -d 'Size of requests in tokens (`k` = 1000), for conditions of preferences; over the annotation' -r
complete -c ome -n "__fish_ome_using_subcommand drain" -l args-order -d 'Order of arguments: runtime, service, accelerator; accelerator, runtime, service; runtime, accelerator, service' -r -f -a "default\t'Runtime, service, accelerator'
accelerator-first\t'Accelerator, runtime, service'
hierarchy\t'Runtime, accelerator, service'"
complete -c ome -n "__fish_ome_using_subcommand drain" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand drain" -l follow-outside -d 'Read what links and `paths` of ome.toml lead to outside of the named paths'
complete -c ome -n "__fish_ome_using_subcommand drain" -s R -l recursive -d 'Directories are always read recursively; accepted because kubectl requires it'
complete -c ome -n "__fish_ome_using_subcommand drain" -s A -l all-namespaces -d 'Services of all namespaces (the default without `-n`)'
complete -c ome -n "__fish_ome_using_subcommand drain" -l partial -d 'Do not report references to objects that were not loaded'
complete -c ome -n "__fish_ome_using_subcommand drain" -l no-config -d 'Read no settings file'
complete -c ome -n "__fish_ome_using_subcommand drain" -l strict -d 'Findings of level warning count as errors'
complete -c ome -n "__fish_ome_using_subcommand drain" -l max -d 'Find as many nodes as can be drained'
complete -c ome -n "__fish_ome_using_subcommand drain" -l strict-preferred -d 'Fail if no preferred class is eligible'
complete -c ome -n "__fish_ome_using_subcommand drain" -l allow-unknown -d 'A preferred class passes although its capabilities are unknown'
complete -c ome -n "__fish_ome_using_subcommand drain" -l strict-cost -d 'Fail if no class is under the cost threshold'
complete -c ome -n "__fish_ome_using_subcommand drain" -l dedupe-args -d 'Drop duplicate flags: the service\'s value wins, otherwise the last one'
complete -c ome -n "__fish_ome_using_subcommand drain" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand drain" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand drain" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand drain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand drift" -s f -l filename -d 'File, directory or `-`; repeatable [default: the current directory]' -r -F
complete -c ome -n "__fish_ome_using_subcommand drift" -l presets -d 'File or directory with the LLMInferenceServiceConfigs of the cluster, read besides the input; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand drift" -s k -l kustomize -d 'Kustomize directory, which is built; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand drift" -l kustomize-command -d 'Program that builds the directories of `-k`, with its arguments [default: the first of `kustomize build` and `kubectl kustomize` on PATH]' -r
complete -c ome -n "__fish_ome_using_subcommand drift" -l overlays -d 'Whether overlays below `-f` are built [default: never]' -r -f -a "auto\t'Those whose files are all in the repository'
never\t'None'"
complete -c ome -n "__fish_ome_using_subcommand drift" -s n -l namespace -d 'Only the services of a namespace' -r
complete -c ome -n "__fish_ome_using_subcommand drift" -s l -l selector -d 'Only services whose labels match the selector, as kubectl\'s' -r
complete -c ome -n "__fish_ome_using_subcommand drift" -l builtin -d 'When the built-in catalog is used [default: auto]' -r -f -a "auto\t'Runtimes where the input has none of that API, accelerator classes where it has none and has Nodes of the class, and objects that the input names. None for a live cluster, an input with `metadata.uid`'
always\t'Beside the runtimes and classes of the input'
never\t'Not at all, not by name either'"
complete -c ome -n "__fish_ome_using_subcommand drift" -l no-builtin -d 'The same as `--builtin never`' -r -f -a "true\t''
false\t''"
complete -c ome -n "__fish_ome_using_subcommand drift" -l semantics -d 'Follow the published documents, or the code of the controllers' -r -f -a "documented\t'The documents as written'
controller\t'As the code of the operators decides'"
complete -c ome -n "__fish_ome_using_subcommand drift" -l release -d 'Follow a release of an operator, as `ome=v0.1.4`; repeatable' -r -f -a "kserve=v0.19.0\t''
kserve=v0.20.0\t''
kserve=head\t''
kserve=odh\t''
kthena=v0.1.0\t''
kthena=v0.4.0\t''
kthena=v1.0.0\t''
kthena=head\t''
kubernetes=1.35\t''
kubernetes=1.36\t''
kubernetes=1.37\t''
lws=v0.7.0\t''
lws=v0.8.0\t''
lws=v0.9.0\t''
lws=v0.10.0\t''
ome=v0.1.3\t''
ome=v0.1.4\t''
ome=v0.1.5\t''
ome=17b77eda\t''
ome=v1.1.0\t''
ome=v1.2.0\t''
ome=v1.2.2\t''
ome=head\t''"
complete -c ome -n "__fish_ome_using_subcommand drift" -l kthena-profile -d 'A release of Kthena whose behavior ModelServings follow instead of the document\'s; manifests are read as the documents read them' -r -f -a "v0.1\t'v0.1.0 of 2025-10'
v1.0\t'v1.0.0 of 2026-07'
head\t'volcano-sh/kthena @3cc0572, as under controller semantics'"
complete -c ome -n "__fish_ome_using_subcommand drift" -l deployment-mode -d 'Default deployment mode for KServe InferenceServices without the annotation' -r -f -a "RawDeployment\t''
Serverless\t''
Standard\t''
Knative\t''"
complete -c ome -n "__fish_ome_using_subcommand drift" -l model-configs -d 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory' -r -F
complete -c ome -n "__fish_ome_using_subcommand drift" -l hf-cache -d 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]' -r -F
complete -c ome -n "__fish_ome_using_subcommand drift" -l model-facts -d 'Whether models are completed from the built-in table of published models [default: auto]' -r -f -a "auto\t'For what manifests and config.json files leave out. Not with `--semantics controller --no-builtin`, which decides as the controller does on the objects that are read, before the model agent has completed any'
always\t'For values that manifests and config.json files do not set, in every mode'
never\t'Not at all'"
complete -c ome -n "__fish_ome_using_subcommand drift" -l device-tolerations -d 'Whether pods tolerate the taints of the devices that they request, as the admission plugin ExtendedResourceToleration makes them [default: assume]' -r -f -a "assume\t'They do, unless pods of the input show that they do not'
never\t'They have only the tolerations that they state'"
complete -c ome -n "__fish_ome_using_subcommand drift" -l config -d 'Settings file; by default `ome.toml` is searched upward from the working directory, and `$XDG_CONFIG_HOME/ome/config.toml` has what it leaves out' -r -F
complete -c ome -n "__fish_ome_using_subcommand drift" -l exclude -d 'Files and directories below `-f` that are not read, as in `.gitignore`; repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand drift" -l in -d 'Use the definitions of this directory where there are several' -r -f -a "(__fish_complete_directories)"
complete -c ome -n "__fish_ome_using_subcommand drift" -l max-file-size -d 'Largest file that is read [default: 512MiB, of which one object has at most 8MiB]' -r
complete -c ome -n "__fish_ome_using_subcommand drift" -l max-depth -d 'Deepest nesting of a document [default: 64]' -r
complete -c ome -n "__fish_ome_using_subcommand drift" -l max-nodes -d 'Most nodes of a document, aliases expanded [default: 1000000]' -r
complete -c ome -n "__fish_ome_using_subcommand drift" -l max-files -d 'Most files that are read below the paths of `-f` [default: 50000]' -r
complete -c ome -n "__fish_ome_using_subcommand drift" -l jobs -d 'Threads, at most 4 per core; the output does not depend on it [default: one per core]' -r
complete -c ome -n "__fish_ome_using_subcommand drift" -l live -d 'The dump of the cluster, when services are read from elsewhere. Repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand drift" -s o -l output -d 'Output format' -r -f -a "table\t'Tables'
json\t'One JSON document; its schema has a version'
yaml\t'The same document as YAML'
markdown\t'Markdown that fits a pull request comment'
html\t'A single HTML page'"
complete -c ome -n "__fish_ome_using_subcommand drift" -l cluster-domain -d 'The cluster\'s DNS domain' -r
complete -c ome -n "__fish_ome_using_subcommand drift" -l protocol -d 'The requested protocol of every service; overrides the services' -r
complete -c ome -n "__fish_ome_using_subcommand drift" -l feature-gates -d 'Comma-separated NAME=true or NAME=false. Known gate: AcceleratorAwareScheduling (default true)' -r
complete -c ome -n "__fish_ome_using_subcommand drift" -l request-size -d 'Size of requests in tokens (`k` = 1000), for conditions of preferences; over the annotation' -r
complete -c ome -n "__fish_ome_using_subcommand drift" -l args-order -d 'Order of arguments: runtime, service, accelerator; accelerator, runtime, service; runtime, accelerator, service' -r -f -a "default\t'Runtime, service, accelerator'
accelerator-first\t'Accelerator, runtime, service'
hierarchy\t'Runtime, accelerator, service'"
complete -c ome -n "__fish_ome_using_subcommand drift" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand drift" -l follow-outside -d 'Read what links and `paths` of ome.toml lead to outside of the named paths'
complete -c ome -n "__fish_ome_using_subcommand drift" -s R -l recursive -d 'Directories are always read recursively; accepted because kubectl requires it'
complete -c ome -n "__fish_ome_using_subcommand drift" -s A -l all-namespaces -d 'Services of all namespaces (the default without `-n`)'
complete -c ome -n "__fish_ome_using_subcommand drift" -l partial -d 'Do not report references to objects that were not loaded'
complete -c ome -n "__fish_ome_using_subcommand drift" -l no-config -d 'Read no settings file'
complete -c ome -n "__fish_ome_using_subcommand drift" -l strict -d 'Findings of level warning count as errors'
complete -c ome -n "__fish_ome_using_subcommand drift" -l strict-preferred -d 'Fail if no preferred class is eligible'
complete -c ome -n "__fish_ome_using_subcommand drift" -l allow-unknown -d 'A preferred class passes although its capabilities are unknown'
complete -c ome -n "__fish_ome_using_subcommand drift" -l strict-cost -d 'Fail if no class is under the cost threshold'
complete -c ome -n "__fish_ome_using_subcommand drift" -l dedupe-args -d 'Drop duplicate flags: the service\'s value wins, otherwise the last one'
complete -c ome -n "__fish_ome_using_subcommand drift" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand drift" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand drift" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand drift" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand rollout" -s f -l filename -d 'File, directory or `-`; repeatable [default: the current directory]' -r -F
complete -c ome -n "__fish_ome_using_subcommand rollout" -l presets -d 'File or directory with the LLMInferenceServiceConfigs of the cluster, read besides the input; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand rollout" -s k -l kustomize -d 'Kustomize directory, which is built; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand rollout" -l kustomize-command -d 'Program that builds the directories of `-k`, with its arguments [default: the first of `kustomize build` and `kubectl kustomize` on PATH]' -r
complete -c ome -n "__fish_ome_using_subcommand rollout" -l overlays -d 'Whether overlays below `-f` are built [default: never]' -r -f -a "auto\t'Those whose files are all in the repository'
never\t'None'"
complete -c ome -n "__fish_ome_using_subcommand rollout" -s n -l namespace -d 'Only the services of a namespace' -r
complete -c ome -n "__fish_ome_using_subcommand rollout" -s l -l selector -d 'Only services whose labels match the selector, as kubectl\'s' -r
complete -c ome -n "__fish_ome_using_subcommand rollout" -l builtin -d 'When the built-in catalog is used [default: auto]' -r -f -a "auto\t'Runtimes where the input has none of that API, accelerator classes where it has none and has Nodes of the class, and objects that the input names. None for a live cluster, an input with `metadata.uid`'
always\t'Beside the runtimes and classes of the input'
never\t'Not at all, not by name either'"
complete -c ome -n "__fish_ome_using_subcommand rollout" -l no-builtin -d 'The same as `--builtin never`' -r -f -a "true\t''
false\t''"
complete -c ome -n "__fish_ome_using_subcommand rollout" -l semantics -d 'Follow the published documents, or the code of the controllers' -r -f -a "documented\t'The documents as written'
controller\t'As the code of the operators decides'"
complete -c ome -n "__fish_ome_using_subcommand rollout" -l release -d 'Follow a release of an operator, as `ome=v0.1.4`; repeatable' -r -f -a "kserve=v0.19.0\t''
kserve=v0.20.0\t''
kserve=head\t''
kserve=odh\t''
kthena=v0.1.0\t''
kthena=v0.4.0\t''
kthena=v1.0.0\t''
kthena=head\t''
kubernetes=1.35\t''
kubernetes=1.36\t''
kubernetes=1.37\t''
lws=v0.7.0\t''
lws=v0.8.0\t''
lws=v0.9.0\t''
lws=v0.10.0\t''
ome=v0.1.3\t''
ome=v0.1.4\t''
ome=v0.1.5\t''
ome=17b77eda\t''
ome=v1.1.0\t''
ome=v1.2.0\t''
ome=v1.2.2\t''
ome=head\t''"
complete -c ome -n "__fish_ome_using_subcommand rollout" -l kthena-profile -d 'A release of Kthena whose behavior ModelServings follow instead of the document\'s; manifests are read as the documents read them' -r -f -a "v0.1\t'v0.1.0 of 2025-10'
v1.0\t'v1.0.0 of 2026-07'
head\t'volcano-sh/kthena @3cc0572, as under controller semantics'"
complete -c ome -n "__fish_ome_using_subcommand rollout" -l deployment-mode -d 'Default deployment mode for KServe InferenceServices without the annotation' -r -f -a "RawDeployment\t''
Serverless\t''
Standard\t''
Knative\t''"
complete -c ome -n "__fish_ome_using_subcommand rollout" -l model-configs -d 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory' -r -F
complete -c ome -n "__fish_ome_using_subcommand rollout" -l hf-cache -d 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]' -r -F
complete -c ome -n "__fish_ome_using_subcommand rollout" -l model-facts -d 'Whether models are completed from the built-in table of published models [default: auto]' -r -f -a "auto\t'For what manifests and config.json files leave out. Not with `--semantics controller --no-builtin`, which decides as the controller does on the objects that are read, before the model agent has completed any'
always\t'For values that manifests and config.json files do not set, in every mode'
never\t'Not at all'"
complete -c ome -n "__fish_ome_using_subcommand rollout" -l device-tolerations -d 'Whether pods tolerate the taints of the devices that they request, as the admission plugin ExtendedResourceToleration makes them [default: assume]' -r -f -a "assume\t'They do, unless pods of the input show that they do not'
never\t'They have only the tolerations that they state'"
complete -c ome -n "__fish_ome_using_subcommand rollout" -l config -d 'Settings file; by default `ome.toml` is searched upward from the working directory, and `$XDG_CONFIG_HOME/ome/config.toml` has what it leaves out' -r -F
complete -c ome -n "__fish_ome_using_subcommand rollout" -l exclude -d 'Files and directories below `-f` that are not read, as in `.gitignore`; repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand rollout" -l in -d 'Use the definitions of this directory where there are several' -r -f -a "(__fish_complete_directories)"
complete -c ome -n "__fish_ome_using_subcommand rollout" -l max-file-size -d 'Largest file that is read [default: 512MiB, of which one object has at most 8MiB]' -r
complete -c ome -n "__fish_ome_using_subcommand rollout" -l max-depth -d 'Deepest nesting of a document [default: 64]' -r
complete -c ome -n "__fish_ome_using_subcommand rollout" -l max-nodes -d 'Most nodes of a document, aliases expanded [default: 1000000]' -r
complete -c ome -n "__fish_ome_using_subcommand rollout" -l max-files -d 'Most files that are read below the paths of `-f` [default: 50000]' -r
complete -c ome -n "__fish_ome_using_subcommand rollout" -l jobs -d 'Threads, at most 4 per core; the output does not depend on it [default: one per core]' -r
complete -c ome -n "__fish_ome_using_subcommand rollout" -l from -l base -d 'The state before the change: a path, repeatable, applied one after the other, or a git revision. A Pod document sets the annotations of that pod' -r -F
complete -c ome -n "__fish_ome_using_subcommand rollout" -l fail -d 'A container of this pod crashes after everything has settled; under the document\'s rules a pod that the change creates does not get ready. Of an InferenceService, and of all services with --all: the containers of the component\'s new pods never start. Repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand rollout" -l stuck -d 'A pod of this name never gets ready once the change is applied. Of an InferenceService, and of all services with --all: the component\'s new pods. Repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand rollout" -l slow -d 'New pods of this component of an InferenceService, or with --all of this role of a ModelServing (`groups`: of all its roles), need so many ticks to get ready, 4 when no number is given; others need one. Repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand rollout" -l pending -d 'This pod is not ready before the change, and stays so until another one replaces it. Repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand rollout" -s o -l output -d 'Output format' -r -f -a "table\t'Tables'
json\t'One JSON document; its schema has a version'
yaml\t'The same document as YAML'
markdown\t'Markdown that fits a pull request comment'
html\t'A single HTML page'"
complete -c ome -n "__fish_ome_using_subcommand rollout" -l protocol -d 'The requested protocol of every service; overrides the services' -r
complete -c ome -n "__fish_ome_using_subcommand rollout" -l feature-gates -d 'Comma-separated NAME=true or NAME=false. Known gate: AcceleratorAwareScheduling (default true)' -r
complete -c ome -n "__fish_ome_using_subcommand rollout" -l request-size -d 'Size of requests in tokens (`k` = 1000), for conditions of preferences; over the annotation' -r
complete -c ome -n "__fish_ome_using_subcommand rollout" -l args-order -d 'Order of arguments: runtime, service, accelerator; accelerator, runtime, service; runtime, accelerator, service' -r -f -a "default\t'Runtime, service, accelerator'
accelerator-first\t'Accelerator, runtime, service'
hierarchy\t'Runtime, accelerator, service'"
complete -c ome -n "__fish_ome_using_subcommand rollout" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand rollout" -l follow-outside -d 'Read what links and `paths` of ome.toml lead to outside of the named paths'
complete -c ome -n "__fish_ome_using_subcommand rollout" -s R -l recursive -d 'Directories are always read recursively; accepted because kubectl requires it'
complete -c ome -n "__fish_ome_using_subcommand rollout" -s A -l all-namespaces -d 'Services of all namespaces (the default without `-n`)'
complete -c ome -n "__fish_ome_using_subcommand rollout" -l partial -d 'Do not report references to objects that were not loaded'
complete -c ome -n "__fish_ome_using_subcommand rollout" -l no-config -d 'Read no settings file'
complete -c ome -n "__fish_ome_using_subcommand rollout" -l strict -d 'Findings of level warning count as errors'
complete -c ome -n "__fish_ome_using_subcommand rollout" -l all -d 'All InferenceServices, ModelServings and other workloads together: the changed ones roll at the same time, the others keep their pods'
complete -c ome -n "__fish_ome_using_subcommand rollout" -l stagger -d 'Pods terminate and become ready in one group at a time, the highest ordinal first'
complete -c ome -n "__fish_ome_using_subcommand rollout" -l steps -d 'Also print every request, in order (with `-o table`)'
complete -c ome -n "__fish_ome_using_subcommand rollout" -l strict-preferred -d 'Fail if no preferred class is eligible'
complete -c ome -n "__fish_ome_using_subcommand rollout" -l allow-unknown -d 'A preferred class passes although its capabilities are unknown'
complete -c ome -n "__fish_ome_using_subcommand rollout" -l strict-cost -d 'Fail if no class is under the cost threshold'
complete -c ome -n "__fish_ome_using_subcommand rollout" -l dedupe-args -d 'Drop duplicate flags: the service\'s value wins, otherwise the last one'
complete -c ome -n "__fish_ome_using_subcommand rollout" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand rollout" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand rollout" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand rollout" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand matrix" -s f -l filename -d 'File, directory or `-`; repeatable [default: the current directory]' -r -F
complete -c ome -n "__fish_ome_using_subcommand matrix" -l presets -d 'File or directory with the LLMInferenceServiceConfigs of the cluster, read besides the input; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand matrix" -s k -l kustomize -d 'Kustomize directory, which is built; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand matrix" -l kustomize-command -d 'Program that builds the directories of `-k`, with its arguments [default: the first of `kustomize build` and `kubectl kustomize` on PATH]' -r
complete -c ome -n "__fish_ome_using_subcommand matrix" -l overlays -d 'Whether overlays below `-f` are built [default: never]' -r -f -a "auto\t'Those whose files are all in the repository'
never\t'None'"
complete -c ome -n "__fish_ome_using_subcommand matrix" -s n -l namespace -d 'Only the services of a namespace' -r
complete -c ome -n "__fish_ome_using_subcommand matrix" -s l -l selector -d 'Only services whose labels match the selector, as kubectl\'s' -r
complete -c ome -n "__fish_ome_using_subcommand matrix" -l builtin -d 'When the built-in catalog is used [default: auto]' -r -f -a "auto\t'Runtimes where the input has none of that API, accelerator classes where it has none and has Nodes of the class, and objects that the input names. None for a live cluster, an input with `metadata.uid`'
always\t'Beside the runtimes and classes of the input'
never\t'Not at all, not by name either'"
complete -c ome -n "__fish_ome_using_subcommand matrix" -l no-builtin -d 'The same as `--builtin never`' -r -f -a "true\t''
false\t''"
complete -c ome -n "__fish_ome_using_subcommand matrix" -l semantics -d 'Follow the published documents, or the code of the controllers' -r -f -a "documented\t'The documents as written'
controller\t'As the code of the operators decides'"
complete -c ome -n "__fish_ome_using_subcommand matrix" -l release -d 'Follow a release of an operator, as `ome=v0.1.4`; repeatable' -r -f -a "kserve=v0.19.0\t''
kserve=v0.20.0\t''
kserve=head\t''
kserve=odh\t''
kthena=v0.1.0\t''
kthena=v0.4.0\t''
kthena=v1.0.0\t''
kthena=head\t''
kubernetes=1.35\t''
kubernetes=1.36\t''
kubernetes=1.37\t''
lws=v0.7.0\t''
lws=v0.8.0\t''
lws=v0.9.0\t''
lws=v0.10.0\t''
ome=v0.1.3\t''
ome=v0.1.4\t''
ome=v0.1.5\t''
ome=17b77eda\t''
ome=v1.1.0\t''
ome=v1.2.0\t''
ome=v1.2.2\t''
ome=head\t''"
complete -c ome -n "__fish_ome_using_subcommand matrix" -l kthena-profile -d 'A release of Kthena whose behavior ModelServings follow instead of the document\'s; manifests are read as the documents read them' -r -f -a "v0.1\t'v0.1.0 of 2025-10'
v1.0\t'v1.0.0 of 2026-07'
head\t'volcano-sh/kthena @3cc0572, as under controller semantics'"
complete -c ome -n "__fish_ome_using_subcommand matrix" -l deployment-mode -d 'Default deployment mode for KServe InferenceServices without the annotation' -r -f -a "RawDeployment\t''
Serverless\t''
Standard\t''
Knative\t''"
complete -c ome -n "__fish_ome_using_subcommand matrix" -l model-configs -d 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory' -r -F
complete -c ome -n "__fish_ome_using_subcommand matrix" -l hf-cache -d 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]' -r -F
complete -c ome -n "__fish_ome_using_subcommand matrix" -l model-facts -d 'Whether models are completed from the built-in table of published models [default: auto]' -r -f -a "auto\t'For what manifests and config.json files leave out. Not with `--semantics controller --no-builtin`, which decides as the controller does on the objects that are read, before the model agent has completed any'
always\t'For values that manifests and config.json files do not set, in every mode'
never\t'Not at all'"
complete -c ome -n "__fish_ome_using_subcommand matrix" -l device-tolerations -d 'Whether pods tolerate the taints of the devices that they request, as the admission plugin ExtendedResourceToleration makes them [default: assume]' -r -f -a "assume\t'They do, unless pods of the input show that they do not'
never\t'They have only the tolerations that they state'"
complete -c ome -n "__fish_ome_using_subcommand matrix" -l config -d 'Settings file; by default `ome.toml` is searched upward from the working directory, and `$XDG_CONFIG_HOME/ome/config.toml` has what it leaves out' -r -F
complete -c ome -n "__fish_ome_using_subcommand matrix" -l exclude -d 'Files and directories below `-f` that are not read, as in `.gitignore`; repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand matrix" -l in -d 'Use the definitions of this directory where there are several' -r -f -a "(__fish_complete_directories)"
complete -c ome -n "__fish_ome_using_subcommand matrix" -l max-file-size -d 'Largest file that is read [default: 512MiB, of which one object has at most 8MiB]' -r
complete -c ome -n "__fish_ome_using_subcommand matrix" -l max-depth -d 'Deepest nesting of a document [default: 64]' -r
complete -c ome -n "__fish_ome_using_subcommand matrix" -l max-nodes -d 'Most nodes of a document, aliases expanded [default: 1000000]' -r
complete -c ome -n "__fish_ome_using_subcommand matrix" -l max-files -d 'Most files that are read below the paths of `-f` [default: 50000]' -r
complete -c ome -n "__fish_ome_using_subcommand matrix" -l jobs -d 'Threads, at most 4 per core; the output does not depend on it [default: one per core]' -r
complete -c ome -n "__fish_ome_using_subcommand matrix" -s o -l output -d 'Output format' -r -f -a "table\t'Tables'
json\t'One JSON document; its schema has a version'
yaml\t'The same document as YAML'
markdown\t'Markdown that fits a pull request comment'
html\t'A single HTML page'"
complete -c ome -n "__fish_ome_using_subcommand matrix" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand matrix" -l follow-outside -d 'Read what links and `paths` of ome.toml lead to outside of the named paths'
complete -c ome -n "__fish_ome_using_subcommand matrix" -s R -l recursive -d 'Directories are always read recursively; accepted because kubectl requires it'
complete -c ome -n "__fish_ome_using_subcommand matrix" -s A -l all-namespaces -d 'Services of all namespaces (the default without `-n`)'
complete -c ome -n "__fish_ome_using_subcommand matrix" -l partial -d 'Do not report references to objects that were not loaded'
complete -c ome -n "__fish_ome_using_subcommand matrix" -l no-config -d 'Read no settings file'
complete -c ome -n "__fish_ome_using_subcommand matrix" -l strict -d 'Findings of level warning count as errors'
complete -c ome -n "__fish_ome_using_subcommand matrix" -l context -d 'Also show the longest request and how many of full length fit beside the weights, by the runtime\'s own arguments. Known for models whose config.json is given: `--model-configs`, `--hf-cache`'
complete -c ome -n "__fish_ome_using_subcommand matrix" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand matrix" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand matrix" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand matrix" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand validate" -s f -l filename -d 'File, directory or `-`; repeatable [default: the current directory]' -r -F
complete -c ome -n "__fish_ome_using_subcommand validate" -l presets -d 'File or directory with the LLMInferenceServiceConfigs of the cluster, read besides the input; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand validate" -s k -l kustomize -d 'Kustomize directory, which is built; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand validate" -l kustomize-command -d 'Program that builds the directories of `-k`, with its arguments [default: the first of `kustomize build` and `kubectl kustomize` on PATH]' -r
complete -c ome -n "__fish_ome_using_subcommand validate" -l overlays -d 'Whether overlays below `-f` are built [default: never]' -r -f -a "auto\t'Those whose files are all in the repository'
never\t'None'"
complete -c ome -n "__fish_ome_using_subcommand validate" -s n -l namespace -d 'Only the services of a namespace' -r
complete -c ome -n "__fish_ome_using_subcommand validate" -s l -l selector -d 'Only services whose labels match the selector, as kubectl\'s' -r
complete -c ome -n "__fish_ome_using_subcommand validate" -l builtin -d 'When the built-in catalog is used [default: auto]' -r -f -a "auto\t'Runtimes where the input has none of that API, accelerator classes where it has none and has Nodes of the class, and objects that the input names. None for a live cluster, an input with `metadata.uid`'
always\t'Beside the runtimes and classes of the input'
never\t'Not at all, not by name either'"
complete -c ome -n "__fish_ome_using_subcommand validate" -l no-builtin -d 'The same as `--builtin never`' -r -f -a "true\t''
false\t''"
complete -c ome -n "__fish_ome_using_subcommand validate" -l semantics -d 'Follow the published documents, or the code of the controllers' -r -f -a "documented\t'The documents as written'
controller\t'As the code of the operators decides'"
complete -c ome -n "__fish_ome_using_subcommand validate" -l release -d 'Follow a release of an operator, as `ome=v0.1.4`; repeatable' -r -f -a "kserve=v0.19.0\t''
kserve=v0.20.0\t''
kserve=head\t''
kserve=odh\t''
kthena=v0.1.0\t''
kthena=v0.4.0\t''
kthena=v1.0.0\t''
kthena=head\t''
kubernetes=1.35\t''
kubernetes=1.36\t''
kubernetes=1.37\t''
lws=v0.7.0\t''
lws=v0.8.0\t''
lws=v0.9.0\t''
lws=v0.10.0\t''
ome=v0.1.3\t''
ome=v0.1.4\t''
ome=v0.1.5\t''
ome=17b77eda\t''
ome=v1.1.0\t''
ome=v1.2.0\t''
ome=v1.2.2\t''
ome=head\t''"
complete -c ome -n "__fish_ome_using_subcommand validate" -l kthena-profile -d 'A release of Kthena whose behavior ModelServings follow instead of the document\'s; manifests are read as the documents read them' -r -f -a "v0.1\t'v0.1.0 of 2025-10'
v1.0\t'v1.0.0 of 2026-07'
head\t'volcano-sh/kthena @3cc0572, as under controller semantics'"
complete -c ome -n "__fish_ome_using_subcommand validate" -l deployment-mode -d 'Default deployment mode for KServe InferenceServices without the annotation' -r -f -a "RawDeployment\t''
Serverless\t''
Standard\t''
Knative\t''"
complete -c ome -n "__fish_ome_using_subcommand validate" -l model-configs -d 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory' -r -F
complete -c ome -n "__fish_ome_using_subcommand validate" -l hf-cache -d 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]' -r -F
complete -c ome -n "__fish_ome_using_subcommand validate" -l model-facts -d 'Whether models are completed from the built-in table of published models [default: auto]' -r -f -a "auto\t'For what manifests and config.json files leave out. Not with `--semantics controller --no-builtin`, which decides as the controller does on the objects that are read, before the model agent has completed any'
always\t'For values that manifests and config.json files do not set, in every mode'
never\t'Not at all'"
complete -c ome -n "__fish_ome_using_subcommand validate" -l device-tolerations -d 'Whether pods tolerate the taints of the devices that they request, as the admission plugin ExtendedResourceToleration makes them [default: assume]' -r -f -a "assume\t'They do, unless pods of the input show that they do not'
never\t'They have only the tolerations that they state'"
complete -c ome -n "__fish_ome_using_subcommand validate" -l config -d 'Settings file; by default `ome.toml` is searched upward from the working directory, and `$XDG_CONFIG_HOME/ome/config.toml` has what it leaves out' -r -F
complete -c ome -n "__fish_ome_using_subcommand validate" -l exclude -d 'Files and directories below `-f` that are not read, as in `.gitignore`; repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand validate" -l in -d 'Use the definitions of this directory where there are several' -r -f -a "(__fish_complete_directories)"
complete -c ome -n "__fish_ome_using_subcommand validate" -l max-file-size -d 'Largest file that is read [default: 512MiB, of which one object has at most 8MiB]' -r
complete -c ome -n "__fish_ome_using_subcommand validate" -l max-depth -d 'Deepest nesting of a document [default: 64]' -r
complete -c ome -n "__fish_ome_using_subcommand validate" -l max-nodes -d 'Most nodes of a document, aliases expanded [default: 1000000]' -r
complete -c ome -n "__fish_ome_using_subcommand validate" -l max-files -d 'Most files that are read below the paths of `-f` [default: 50000]' -r
complete -c ome -n "__fish_ome_using_subcommand validate" -l jobs -d 'Threads, at most 4 per core; the output does not depend on it [default: one per core]' -r
complete -c ome -n "__fish_ome_using_subcommand validate" -s o -l output -l format -d 'Output format; `--format` is the same flag' -r -f -a "human\t'Text for people, with the lines in question'
json\t'One JSON document; its schema has a version'
yaml\t'The same document as YAML'
markdown\t'Markdown that fits a pull request comment'
html\t'A single HTML page'
sarif\t'SARIF 2.1.0, for code hosts'
github\t'Workflow commands of GitHub Actions'
junit\t'JUnit XML, a test case per file'
gitlab\t'A Code Quality report of GitLab'
rdjson\t'Reviewdog Diagnostic Format, as one JSON document'"
complete -c ome -n "__fish_ome_using_subcommand validate" -l min-severity -d 'Least severity that is shown [default: warning for people, info in every other format and with `--rule`]. Exit codes do not depend on it' -r -f -a "info\t'Worth knowing; never changes an exit code'
warning\t'Counts with `--strict`'
error\t'The input cannot be used as written'"
complete -c ome -n "__fish_ome_using_subcommand validate" -l rule -d 'Only findings of this code; switches on rules that are off by default. Repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand validate" -l source -d 'Findings about the user\'s objects, or about built-in objects only' -r -f -a "user\t'Findings about the user\'s objects'
builtin\t'Findings about built-in objects only'"
complete -c ome -n "__fish_ome_using_subcommand validate" -l context -d 'File or directory that is read so that references to it resolve; findings about it are not reported. Repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand validate" -l baseline -d 'Leave out the findings that this file holds' -r -F
complete -c ome -n "__fish_ome_using_subcommand validate" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand validate" -l follow-outside -d 'Read what links and `paths` of ome.toml lead to outside of the named paths'
complete -c ome -n "__fish_ome_using_subcommand validate" -s R -l recursive -d 'Directories are always read recursively; accepted because kubectl requires it'
complete -c ome -n "__fish_ome_using_subcommand validate" -s A -l all-namespaces -d 'Services of all namespaces (the default without `-n`)'
complete -c ome -n "__fish_ome_using_subcommand validate" -l partial -d 'Do not report references to objects that were not loaded'
complete -c ome -n "__fish_ome_using_subcommand validate" -l no-config -d 'Read no settings file'
complete -c ome -n "__fish_ome_using_subcommand validate" -l strict -d 'Findings of level warning count as errors'
complete -c ome -n "__fish_ome_using_subcommand validate" -l all -d 'Also report on directories below the named ones that hold copies: testdata, test, tests, e2e, versioned_docs, vendor'
complete -c ome -n "__fish_ome_using_subcommand validate" -l unused -d 'Also report runtimes that serve no loaded model'
complete -c ome -n "__fish_ome_using_subcommand validate" -l unknown-products -d 'Also report accelerator classes of unknown products'
complete -c ome -n "__fish_ome_using_subcommand validate" -l update-baseline -d 'Write the findings of this run into the baseline'
complete -c ome -n "__fish_ome_using_subcommand validate" -l fix -d 'Repair what can be repaired safely, then report the other findings'
complete -c ome -n "__fish_ome_using_subcommand validate" -l watch -d 'Run again whenever the input changes'
complete -c ome -n "__fish_ome_using_subcommand validate" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand validate" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand validate" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand validate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand catalog; and not __fish_seen_subcommand_from list show releases help" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand catalog; and not __fish_seen_subcommand_from list show releases help" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand catalog; and not __fish_seen_subcommand_from list show releases help" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand catalog; and not __fish_seen_subcommand_from list show releases help" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand catalog; and not __fish_seen_subcommand_from list show releases help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand catalog; and not __fish_seen_subcommand_from list show releases help" -f -a "list" -d 'List what is loaded; filters are ANDed'
complete -c ome -n "__fish_ome_using_subcommand catalog; and not __fish_seen_subcommand_from list show releases help" -f -a "show" -d 'Show one item: an object name, an alias such as `vllm/mistral-7b-instruct-rt`, or a file name only one has'
complete -c ome -n "__fish_ome_using_subcommand catalog; and not __fish_seen_subcommand_from list show releases help" -f -a "releases" -d 'List the releases of operators that `--release` takes, and what they ship'
complete -c ome -n "__fish_ome_using_subcommand catalog; and not __fish_seen_subcommand_from list show releases help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l kind -d 'Only this kind' -r -f -a "runtime\t'ServingRuntimes and ClusterServingRuntimes'
model\t'BaseModels and ClusterBaseModels'
accelerator\t'AcceleratorClasses'"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l source -d 'Only built-in objects, or only your own' -r -f -a "builtin\t'Embedded in the binary'
user\t'Read'
template\t'In an OpenShift Template that was read'"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l api -d 'Only objects of this API' -r -f -a "ome\t''
kserve\t''"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l engine -d 'Only built-in runtimes of this engine' -r -f -a "sglang\t''
vllm\t''"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l protocol -d 'Only runtimes that list this protocol' -r
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l names -d 'Names and order: object names, or the file names of the documentation' -r -f -a "object\t'Object names'
seed\t'File names of the documentation, such as `mistral-7b-instruct-rt`'"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -s o -l output -d 'Output format' -r -f -a "table\t'Tables'
json\t'One JSON document; its schema has a version'
yaml\t'The same document as YAML'"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -s f -l filename -d 'File, directory or `-`; repeatable [default: the current directory]' -r -F
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l presets -d 'File or directory with the LLMInferenceServiceConfigs of the cluster, read besides the input; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -s k -l kustomize -d 'Kustomize directory, which is built; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l kustomize-command -d 'Program that builds the directories of `-k`, with its arguments [default: the first of `kustomize build` and `kubectl kustomize` on PATH]' -r
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l overlays -d 'Whether overlays below `-f` are built [default: never]' -r -f -a "auto\t'Those whose files are all in the repository'
never\t'None'"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -s n -l namespace -d 'Only the services of a namespace' -r
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -s l -l selector -d 'Only services whose labels match the selector, as kubectl\'s' -r
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l builtin -d 'When the built-in catalog is used [default: auto]' -r -f -a "auto\t'Runtimes where the input has none of that API, accelerator classes where it has none and has Nodes of the class, and objects that the input names. None for a live cluster, an input with `metadata.uid`'
always\t'Beside the runtimes and classes of the input'
never\t'Not at all, not by name either'"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l no-builtin -d 'The same as `--builtin never`' -r -f -a "true\t''
false\t''"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l semantics -d 'Follow the published documents, or the code of the controllers' -r -f -a "documented\t'The documents as written'
controller\t'As the code of the operators decides'"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l release -d 'Follow a release of an operator, as `ome=v0.1.4`; repeatable' -r -f -a "kserve=v0.19.0\t''
kserve=v0.20.0\t''
kserve=head\t''
kserve=odh\t''
kthena=v0.1.0\t''
kthena=v0.4.0\t''
kthena=v1.0.0\t''
kthena=head\t''
kubernetes=1.35\t''
kubernetes=1.36\t''
kubernetes=1.37\t''
lws=v0.7.0\t''
lws=v0.8.0\t''
lws=v0.9.0\t''
lws=v0.10.0\t''
ome=v0.1.3\t''
ome=v0.1.4\t''
ome=v0.1.5\t''
ome=17b77eda\t''
ome=v1.1.0\t''
ome=v1.2.0\t''
ome=v1.2.2\t''
ome=head\t''"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l kthena-profile -d 'A release of Kthena whose behavior ModelServings follow instead of the document\'s; manifests are read as the documents read them' -r -f -a "v0.1\t'v0.1.0 of 2025-10'
v1.0\t'v1.0.0 of 2026-07'
head\t'volcano-sh/kthena @3cc0572, as under controller semantics'"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l deployment-mode -d 'Default deployment mode for KServe InferenceServices without the annotation' -r -f -a "RawDeployment\t''
Serverless\t''
Standard\t''
Knative\t''"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l model-configs -d 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory' -r -F
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l hf-cache -d 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]' -r -F
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l model-facts -d 'Whether models are completed from the built-in table of published models [default: auto]' -r -f -a "auto\t'For what manifests and config.json files leave out. Not with `--semantics controller --no-builtin`, which decides as the controller does on the objects that are read, before the model agent has completed any'
always\t'For values that manifests and config.json files do not set, in every mode'
never\t'Not at all'"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l device-tolerations -d 'Whether pods tolerate the taints of the devices that they request, as the admission plugin ExtendedResourceToleration makes them [default: assume]' -r -f -a "assume\t'They do, unless pods of the input show that they do not'
never\t'They have only the tolerations that they state'"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l config -d 'Settings file; by default `ome.toml` is searched upward from the working directory, and `$XDG_CONFIG_HOME/ome/config.toml` has what it leaves out' -r -F
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l exclude -d 'Files and directories below `-f` that are not read, as in `.gitignore`; repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l in -d 'Use the definitions of this directory where there are several' -r -f -a "(__fish_complete_directories)"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l max-file-size -d 'Largest file that is read [default: 512MiB, of which one object has at most 8MiB]' -r
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l max-depth -d 'Deepest nesting of a document [default: 64]' -r
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l max-nodes -d 'Most nodes of a document, aliases expanded [default: 1000000]' -r
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l max-files -d 'Most files that are read below the paths of `-f` [default: 50000]' -r
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l jobs -d 'Threads, at most 4 per core; the output does not depend on it [default: one per core]' -r
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l follow-outside -d 'Read what links and `paths` of ome.toml lead to outside of the named paths'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -s R -l recursive -d 'Directories are always read recursively; accepted because kubectl requires it'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -s A -l all-namespaces -d 'Services of all namespaces (the default without `-n`)'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l partial -d 'Do not report references to objects that were not loaded'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l no-config -d 'Read no settings file'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l strict -d 'Findings of level warning count as errors'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -s f -l filename -d 'File, directory or `-`; repeatable [default: the current directory]' -r -F
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l presets -d 'File or directory with the LLMInferenceServiceConfigs of the cluster, read besides the input; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -s k -l kustomize -d 'Kustomize directory, which is built; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l kustomize-command -d 'Program that builds the directories of `-k`, with its arguments [default: the first of `kustomize build` and `kubectl kustomize` on PATH]' -r
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l overlays -d 'Whether overlays below `-f` are built [default: never]' -r -f -a "auto\t'Those whose files are all in the repository'
never\t'None'"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -s n -l namespace -d 'Only the services of a namespace' -r
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -s l -l selector -d 'Only services whose labels match the selector, as kubectl\'s' -r
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l builtin -d 'When the built-in catalog is used [default: auto]' -r -f -a "auto\t'Runtimes where the input has none of that API, accelerator classes where it has none and has Nodes of the class, and objects that the input names. None for a live cluster, an input with `metadata.uid`'
always\t'Beside the runtimes and classes of the input'
never\t'Not at all, not by name either'"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l no-builtin -d 'The same as `--builtin never`' -r -f -a "true\t''
false\t''"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l semantics -d 'Follow the published documents, or the code of the controllers' -r -f -a "documented\t'The documents as written'
controller\t'As the code of the operators decides'"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l release -d 'Follow a release of an operator, as `ome=v0.1.4`; repeatable' -r -f -a "kserve=v0.19.0\t''
kserve=v0.20.0\t''
kserve=head\t''
kserve=odh\t''
kthena=v0.1.0\t''
kthena=v0.4.0\t''
kthena=v1.0.0\t''
kthena=head\t''
kubernetes=1.35\t''
kubernetes=1.36\t''
kubernetes=1.37\t''
lws=v0.7.0\t''
lws=v0.8.0\t''
lws=v0.9.0\t''
lws=v0.10.0\t''
ome=v0.1.3\t''
ome=v0.1.4\t''
ome=v0.1.5\t''
ome=17b77eda\t''
ome=v1.1.0\t''
ome=v1.2.0\t''
ome=v1.2.2\t''
ome=head\t''"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l kthena-profile -d 'A release of Kthena whose behavior ModelServings follow instead of the document\'s; manifests are read as the documents read them' -r -f -a "v0.1\t'v0.1.0 of 2025-10'
v1.0\t'v1.0.0 of 2026-07'
head\t'volcano-sh/kthena @3cc0572, as under controller semantics'"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l deployment-mode -d 'Default deployment mode for KServe InferenceServices without the annotation' -r -f -a "RawDeployment\t''
Serverless\t''
Standard\t''
Knative\t''"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l model-configs -d 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory' -r -F
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l hf-cache -d 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]' -r -F
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l model-facts -d 'Whether models are completed from the built-in table of published models [default: auto]' -r -f -a "auto\t'For what manifests and config.json files leave out. Not with `--semantics controller --no-builtin`, which decides as the controller does on the objects that are read, before the model agent has completed any'
always\t'For values that manifests and config.json files do not set, in every mode'
never\t'Not at all'"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l device-tolerations -d 'Whether pods tolerate the taints of the devices that they request, as the admission plugin ExtendedResourceToleration makes them [default: assume]' -r -f -a "assume\t'They do, unless pods of the input show that they do not'
never\t'They have only the tolerations that they state'"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l config -d 'Settings file; by default `ome.toml` is searched upward from the working directory, and `$XDG_CONFIG_HOME/ome/config.toml` has what it leaves out' -r -F
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l exclude -d 'Files and directories below `-f` that are not read, as in `.gitignore`; repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l in -d 'Use the definitions of this directory where there are several' -r -f -a "(__fish_complete_directories)"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l max-file-size -d 'Largest file that is read [default: 512MiB, of which one object has at most 8MiB]' -r
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l max-depth -d 'Deepest nesting of a document [default: 64]' -r
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l max-nodes -d 'Most nodes of a document, aliases expanded [default: 1000000]' -r
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l max-files -d 'Most files that are read below the paths of `-f` [default: 50000]' -r
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l jobs -d 'Threads, at most 4 per core; the output does not depend on it [default: one per core]' -r
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -s o -l output -d 'Output format' -r -f -a "table\t'Tables'
json\t'One JSON document; its schema has a version'
yaml\t'The same document as YAML'"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l follow-outside -d 'Read what links and `paths` of ome.toml lead to outside of the named paths'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -s R -l recursive -d 'Directories are always read recursively; accepted because kubectl requires it'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -s A -l all-namespaces -d 'Services of all namespaces (the default without `-n`)'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l partial -d 'Do not report references to objects that were not loaded'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l no-config -d 'Read no settings file'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l strict -d 'Findings of level warning count as errors'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from releases" -s o -l output -d 'Output format' -r -f -a "table\t'Tables'
json\t'One JSON document; its schema has a version'
yaml\t'The same document as YAML'"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from releases" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from releases" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from releases" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from releases" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from releases" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from help" -f -a "list" -d 'List what is loaded; filters are ANDed'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from help" -f -a "show" -d 'Show one item: an object name, an alias such as `vllm/mistral-7b-instruct-rt`, or a file name only one has'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from help" -f -a "releases" -d 'List the releases of operators that `--release` takes, and what they ship'
complete -c ome -n "__fish_ome_using_subcommand catalog; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ome -n "__fish_ome_using_subcommand test" -s f -l filename -d 'File, directory or `-`; repeatable [default: the current directory]' -r -F
complete -c ome -n "__fish_ome_using_subcommand test" -l presets -d 'File or directory with the LLMInferenceServiceConfigs of the cluster, read besides the input; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand test" -s k -l kustomize -d 'Kustomize directory, which is built; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand test" -l kustomize-command -d 'Program that builds the directories of `-k`, with its arguments [default: the first of `kustomize build` and `kubectl kustomize` on PATH]' -r
complete -c ome -n "__fish_ome_using_subcommand test" -l overlays -d 'Whether overlays below `-f` are built [default: never]' -r -f -a "auto\t'Those whose files are all in the repository'
never\t'None'"
complete -c ome -n "__fish_ome_using_subcommand test" -s n -l namespace -d 'Only the services of a namespace' -r
complete -c ome -n "__fish_ome_using_subcommand test" -s l -l selector -d 'Only services whose labels match the selector, as kubectl\'s' -r
complete -c ome -n "__fish_ome_using_subcommand test" -l builtin -d 'When the built-in catalog is used [default: auto]' -r -f -a "auto\t'Runtimes where the input has none of that API, accelerator classes where it has none and has Nodes of the class, and objects that the input names. None for a live cluster, an input with `metadata.uid`'
always\t'Beside the runtimes and classes of the input'
never\t'Not at all, not by name either'"
complete -c ome -n "__fish_ome_using_subcommand test" -l no-builtin -d 'The same as `--builtin never`' -r -f -a "true\t''
false\t''"
complete -c ome -n "__fish_ome_using_subcommand test" -l semantics -d 'Follow the published documents, or the code of the controllers' -r -f -a "documented\t'The documents as written'
controller\t'As the code of the operators decides'"
complete -c ome -n "__fish_ome_using_subcommand test" -l release -d 'Follow a release of an operator, as `ome=v0.1.4`; repeatable' -r -f -a "kserve=v0.19.0\t''
kserve=v0.20.0\t''
kserve=head\t''
kserve=odh\t''
kthena=v0.1.0\t''
kthena=v0.4.0\t''
kthena=v1.0.0\t''
kthena=head\t''
kubernetes=1.35\t''
kubernetes=1.36\t''
kubernetes=1.37\t''
lws=v0.7.0\t''
lws=v0.8.0\t''
lws=v0.9.0\t''
lws=v0.10.0\t''
ome=v0.1.3\t''
ome=v0.1.4\t''
ome=v0.1.5\t''
ome=17b77eda\t''
ome=v1.1.0\t''
ome=v1.2.0\t''
ome=v1.2.2\t''
ome=head\t''"
complete -c ome -n "__fish_ome_using_subcommand test" -l kthena-profile -d 'A release of Kthena whose behavior ModelServings follow instead of the document\'s; manifests are read as the documents read them' -r -f -a "v0.1\t'v0.1.0 of 2025-10'
v1.0\t'v1.0.0 of 2026-07'
head\t'volcano-sh/kthena @3cc0572, as under controller semantics'"
complete -c ome -n "__fish_ome_using_subcommand test" -l deployment-mode -d 'Default deployment mode for KServe InferenceServices without the annotation' -r -f -a "RawDeployment\t''
Serverless\t''
Standard\t''
Knative\t''"
complete -c ome -n "__fish_ome_using_subcommand test" -l model-configs -d 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory' -r -F
complete -c ome -n "__fish_ome_using_subcommand test" -l hf-cache -d 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]' -r -F
complete -c ome -n "__fish_ome_using_subcommand test" -l model-facts -d 'Whether models are completed from the built-in table of published models [default: auto]' -r -f -a "auto\t'For what manifests and config.json files leave out. Not with `--semantics controller --no-builtin`, which decides as the controller does on the objects that are read, before the model agent has completed any'
always\t'For values that manifests and config.json files do not set, in every mode'
never\t'Not at all'"
complete -c ome -n "__fish_ome_using_subcommand test" -l device-tolerations -d 'Whether pods tolerate the taints of the devices that they request, as the admission plugin ExtendedResourceToleration makes them [default: assume]' -r -f -a "assume\t'They do, unless pods of the input show that they do not'
never\t'They have only the tolerations that they state'"
complete -c ome -n "__fish_ome_using_subcommand test" -l config -d 'Settings file; by default `ome.toml` is searched upward from the working directory, and `$XDG_CONFIG_HOME/ome/config.toml` has what it leaves out' -r -F
complete -c ome -n "__fish_ome_using_subcommand test" -l exclude -d 'Files and directories below `-f` that are not read, as in `.gitignore`; repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand test" -l in -d 'Use the definitions of this directory where there are several' -r -f -a "(__fish_complete_directories)"
complete -c ome -n "__fish_ome_using_subcommand test" -l max-file-size -d 'Largest file that is read [default: 512MiB, of which one object has at most 8MiB]' -r
complete -c ome -n "__fish_ome_using_subcommand test" -l max-depth -d 'Deepest nesting of a document [default: 64]' -r
complete -c ome -n "__fish_ome_using_subcommand test" -l max-nodes -d 'Most nodes of a document, aliases expanded [default: 1000000]' -r
complete -c ome -n "__fish_ome_using_subcommand test" -l max-files -d 'Most files that are read below the paths of `-f` [default: 50000]' -r
complete -c ome -n "__fish_ome_using_subcommand test" -l jobs -d 'Threads, at most 4 per core; the output does not depend on it [default: one per core]' -r
complete -c ome -n "__fish_ome_using_subcommand test" -s o -l output -l format -d 'Output format; `--format` is the same flag' -r -f -a "table\t'A line for each case, and how to fix those that failed'
json\t'One JSON document; its schema has a version'
github\t'Workflow commands of GitHub Actions'
junit\t'JUnit XML, a test case for each case'"
complete -c ome -n "__fish_ome_using_subcommand test" -l protocol -d 'The requested protocol of every service; overrides the services' -r
complete -c ome -n "__fish_ome_using_subcommand test" -l feature-gates -d 'Comma-separated NAME=true or NAME=false. Known gate: AcceleratorAwareScheduling (default true)' -r
complete -c ome -n "__fish_ome_using_subcommand test" -l request-size -d 'Size of requests in tokens (`k` = 1000), for conditions of preferences; over the annotation' -r
complete -c ome -n "__fish_ome_using_subcommand test" -l args-order -d 'Order of arguments: runtime, service, accelerator; accelerator, runtime, service; runtime, accelerator, service' -r -f -a "default\t'Runtime, service, accelerator'
accelerator-first\t'Accelerator, runtime, service'
hierarchy\t'Runtime, accelerator, service'"
complete -c ome -n "__fish_ome_using_subcommand test" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand test" -l follow-outside -d 'Read what links and `paths` of ome.toml lead to outside of the named paths'
complete -c ome -n "__fish_ome_using_subcommand test" -s R -l recursive -d 'Directories are always read recursively; accepted because kubectl requires it'
complete -c ome -n "__fish_ome_using_subcommand test" -s A -l all-namespaces -d 'Services of all namespaces (the default without `-n`)'
complete -c ome -n "__fish_ome_using_subcommand test" -l partial -d 'Do not report references to objects that were not loaded'
complete -c ome -n "__fish_ome_using_subcommand test" -l no-config -d 'Read no settings file'
complete -c ome -n "__fish_ome_using_subcommand test" -l strict -d 'Findings of level warning count as errors'
complete -c ome -n "__fish_ome_using_subcommand test" -l record -d 'Replace the expected values that differ by today\'s answers; fill in `NAME: {}` of a service, `services: {}` for all services, and a FILE that does not exist'
complete -c ome -n "__fish_ome_using_subcommand test" -l strict-preferred -d 'Fail if no preferred class is eligible'
complete -c ome -n "__fish_ome_using_subcommand test" -l allow-unknown -d 'A preferred class passes although its capabilities are unknown'
complete -c ome -n "__fish_ome_using_subcommand test" -l strict-cost -d 'Fail if no class is under the cost threshold'
complete -c ome -n "__fish_ome_using_subcommand test" -l dedupe-args -d 'Drop duplicate flags: the service\'s value wins, otherwise the last one'
complete -c ome -n "__fish_ome_using_subcommand test" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand test" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand test" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand test" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand kueue; and not __fish_seen_subcommand_from import export diff help" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and not __fish_seen_subcommand_from import export diff help" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand kueue; and not __fish_seen_subcommand_from import export diff help" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand kueue; and not __fish_seen_subcommand_from import export diff help" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand kueue; and not __fish_seen_subcommand_from import export diff help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand kueue; and not __fish_seen_subcommand_from import export diff help" -f -a "import" -d 'Generate AcceleratorClasses from ResourceFlavors'
complete -c ome -n "__fish_ome_using_subcommand kueue; and not __fish_seen_subcommand_from import export diff help" -f -a "export" -d 'Generate ResourceFlavors from AcceleratorClasses'
complete -c ome -n "__fish_ome_using_subcommand kueue; and not __fish_seen_subcommand_from import export diff help" -f -a "diff" -d 'Show where the two disagree'
complete -c ome -n "__fish_ome_using_subcommand kueue; and not __fish_seen_subcommand_from import export diff help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -s o -l output -d 'Output format' -r -f -a "table\t'A table for people'
yaml\t'The objects to create or update, nothing else'
json\t'One JSON document; its schema has a version'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l prefer -d 'Which object to follow where a class written by hand and its flavor disagree' -r -f -a "flavor\t'The flavor: classes written by hand are updated too'
class\t'The class: it is kept, and `export` updates the flavor'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -s f -l filename -d 'File, directory or `-`; repeatable [default: the current directory]' -r -F
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l presets -d 'File or directory with the LLMInferenceServiceConfigs of the cluster, read besides the input; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -s k -l kustomize -d 'Kustomize directory, which is built; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l kustomize-command -d 'Program that builds the directories of `-k`, with its arguments [default: the first of `kustomize build` and `kubectl kustomize` on PATH]' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l overlays -d 'Whether overlays below `-f` are built [default: never]' -r -f -a "auto\t'Those whose files are all in the repository'
never\t'None'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -s n -l namespace -d 'Only the services of a namespace' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -s l -l selector -d 'Only services whose labels match the selector, as kubectl\'s' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l builtin -d 'When the built-in catalog is used [default: auto]' -r -f -a "auto\t'Runtimes where the input has none of that API, accelerator classes where it has none and has Nodes of the class, and objects that the input names. None for a live cluster, an input with `metadata.uid`'
always\t'Beside the runtimes and classes of the input'
never\t'Not at all, not by name either'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l no-builtin -d 'The same as `--builtin never`' -r -f -a "true\t''
false\t''"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l semantics -d 'Follow the published documents, or the code of the controllers' -r -f -a "documented\t'The documents as written'
controller\t'As the code of the operators decides'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l release -d 'Follow a release of an operator, as `ome=v0.1.4`; repeatable' -r -f -a "kserve=v0.19.0\t''
kserve=v0.20.0\t''
kserve=head\t''
kserve=odh\t''
kthena=v0.1.0\t''
kthena=v0.4.0\t''
kthena=v1.0.0\t''
kthena=head\t''
kubernetes=1.35\t''
kubernetes=1.36\t''
kubernetes=1.37\t''
lws=v0.7.0\t''
lws=v0.8.0\t''
lws=v0.9.0\t''
lws=v0.10.0\t''
ome=v0.1.3\t''
ome=v0.1.4\t''
ome=v0.1.5\t''
ome=17b77eda\t''
ome=v1.1.0\t''
ome=v1.2.0\t''
ome=v1.2.2\t''
ome=head\t''"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l kthena-profile -d 'A release of Kthena whose behavior ModelServings follow instead of the document\'s; manifests are read as the documents read them' -r -f -a "v0.1\t'v0.1.0 of 2025-10'
v1.0\t'v1.0.0 of 2026-07'
head\t'volcano-sh/kthena @3cc0572, as under controller semantics'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l deployment-mode -d 'Default deployment mode for KServe InferenceServices without the annotation' -r -f -a "RawDeployment\t''
Serverless\t''
Standard\t''
Knative\t''"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l model-configs -d 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory' -r -F
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l hf-cache -d 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]' -r -F
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l model-facts -d 'Whether models are completed from the built-in table of published models [default: auto]' -r -f -a "auto\t'For what manifests and config.json files leave out. Not with `--semantics controller --no-builtin`, which decides as the controller does on the objects that are read, before the model agent has completed any'
always\t'For values that manifests and config.json files do not set, in every mode'
never\t'Not at all'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l device-tolerations -d 'Whether pods tolerate the taints of the devices that they request, as the admission plugin ExtendedResourceToleration makes them [default: assume]' -r -f -a "assume\t'They do, unless pods of the input show that they do not'
never\t'They have only the tolerations that they state'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l config -d 'Settings file; by default `ome.toml` is searched upward from the working directory, and `$XDG_CONFIG_HOME/ome/config.toml` has what it leaves out' -r -F
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l exclude -d 'Files and directories below `-f` that are not read, as in `.gitignore`; repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l in -d 'Use the definitions of this directory where there are several' -r -f -a "(__fish_complete_directories)"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l max-file-size -d 'Largest file that is read [default: 512MiB, of which one object has at most 8MiB]' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l max-depth -d 'Deepest nesting of a document [default: 64]' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l max-nodes -d 'Most nodes of a document, aliases expanded [default: 1000000]' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l max-files -d 'Most files that are read below the paths of `-f` [default: 50000]' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l jobs -d 'Threads, at most 4 per core; the output does not depend on it [default: one per core]' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l follow-outside -d 'Read what links and `paths` of ome.toml lead to outside of the named paths'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -s R -l recursive -d 'Directories are always read recursively; accepted because kubectl requires it'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -s A -l all-namespaces -d 'Services of all namespaces (the default without `-n`)'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l partial -d 'Do not report references to objects that were not loaded'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l no-config -d 'Read no settings file'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l strict -d 'Findings of level warning count as errors'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -s f -l filename -d 'File, directory or `-`; repeatable [default: the current directory]' -r -F
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l presets -d 'File or directory with the LLMInferenceServiceConfigs of the cluster, read besides the input; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -s k -l kustomize -d 'Kustomize directory, which is built; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l kustomize-command -d 'Program that builds the directories of `-k`, with its arguments [default: the first of `kustomize build` and `kubectl kustomize` on PATH]' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l overlays -d 'Whether overlays below `-f` are built [default: never]' -r -f -a "auto\t'Those whose files are all in the repository'
never\t'None'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -s n -l namespace -d 'Only the services of a namespace' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -s l -l selector -d 'Only services whose labels match the selector, as kubectl\'s' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l builtin -d 'When the built-in catalog is used [default: auto]' -r -f -a "auto\t'Runtimes where the input has none of that API, accelerator classes where it has none and has Nodes of the class, and objects that the input names. None for a live cluster, an input with `metadata.uid`'
always\t'Beside the runtimes and classes of the input'
never\t'Not at all, not by name either'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l no-builtin -d 'The same as `--builtin never`' -r -f -a "true\t''
false\t''"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l semantics -d 'Follow the published documents, or the code of the controllers' -r -f -a "documented\t'The documents as written'
controller\t'As the code of the operators decides'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l release -d 'Follow a release of an operator, as `ome=v0.1.4`; repeatable' -r -f -a "kserve=v0.19.0\t''
kserve=v0.20.0\t''
kserve=head\t''
kserve=odh\t''
kthena=v0.1.0\t''
kthena=v0.4.0\t''
kthena=v1.0.0\t''
kthena=head\t''
kubernetes=1.35\t''
kubernetes=1.36\t''
kubernetes=1.37\t''
lws=v0.7.0\t''
lws=v0.8.0\t''
lws=v0.9.0\t''
lws=v0.10.0\t''
ome=v0.1.3\t''
ome=v0.1.4\t''
ome=v0.1.5\t''
ome=17b77eda\t''
ome=v1.1.0\t''
ome=v1.2.0\t''
ome=v1.2.2\t''
ome=head\t''"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l kthena-profile -d 'A release of Kthena whose behavior ModelServings follow instead of the document\'s; manifests are read as the documents read them' -r -f -a "v0.1\t'v0.1.0 of 2025-10'
v1.0\t'v1.0.0 of 2026-07'
head\t'volcano-sh/kthena @3cc0572, as under controller semantics'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l deployment-mode -d 'Default deployment mode for KServe InferenceServices without the annotation' -r -f -a "RawDeployment\t''
Serverless\t''
Standard\t''
Knative\t''"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l model-configs -d 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory' -r -F
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l hf-cache -d 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]' -r -F
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l model-facts -d 'Whether models are completed from the built-in table of published models [default: auto]' -r -f -a "auto\t'For what manifests and config.json files leave out. Not with `--semantics controller --no-builtin`, which decides as the controller does on the objects that are read, before the model agent has completed any'
always\t'For values that manifests and config.json files do not set, in every mode'
never\t'Not at all'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l device-tolerations -d 'Whether pods tolerate the taints of the devices that they request, as the admission plugin ExtendedResourceToleration makes them [default: assume]' -r -f -a "assume\t'They do, unless pods of the input show that they do not'
never\t'They have only the tolerations that they state'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l config -d 'Settings file; by default `ome.toml` is searched upward from the working directory, and `$XDG_CONFIG_HOME/ome/config.toml` has what it leaves out' -r -F
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l exclude -d 'Files and directories below `-f` that are not read, as in `.gitignore`; repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l in -d 'Use the definitions of this directory where there are several' -r -f -a "(__fish_complete_directories)"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l max-file-size -d 'Largest file that is read [default: 512MiB, of which one object has at most 8MiB]' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l max-depth -d 'Deepest nesting of a document [default: 64]' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l max-nodes -d 'Most nodes of a document, aliases expanded [default: 1000000]' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l max-files -d 'Most files that are read below the paths of `-f` [default: 50000]' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l jobs -d 'Threads, at most 4 per core; the output does not depend on it [default: one per core]' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -s o -l output -d 'Output format' -r -f -a "table\t'A table for people'
yaml\t'The objects to create or update, nothing else'
json\t'One JSON document; its schema has a version'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l prefer -d 'Which object to follow where a class and its flavor disagree' -r -f -a "flavor\t'The flavor: classes written by hand are updated too'
class\t'The class: it is kept, and `export` updates the flavor'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l kueue-version -d 'Version of new flavors' -r -f -a "v1beta1\t'Deprecated'
v1beta2\t'The current one'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l follow-outside -d 'Read what links and `paths` of ome.toml lead to outside of the named paths'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -s R -l recursive -d 'Directories are always read recursively; accepted because kubectl requires it'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -s A -l all-namespaces -d 'Services of all namespaces (the default without `-n`)'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l partial -d 'Do not report references to objects that were not loaded'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l no-config -d 'Read no settings file'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l strict -d 'Findings of level warning count as errors'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l split -d 'One flavor for each value, where a class lists several'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l no-tolerations -d 'Write flavors without tolerations: pods must tolerate the taints'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -s f -l filename -d 'File, directory or `-`; repeatable [default: the current directory]' -r -F
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l presets -d 'File or directory with the LLMInferenceServiceConfigs of the cluster, read besides the input; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -s k -l kustomize -d 'Kustomize directory, which is built; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l kustomize-command -d 'Program that builds the directories of `-k`, with its arguments [default: the first of `kustomize build` and `kubectl kustomize` on PATH]' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l overlays -d 'Whether overlays below `-f` are built [default: never]' -r -f -a "auto\t'Those whose files are all in the repository'
never\t'None'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -s n -l namespace -d 'Only the services of a namespace' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -s l -l selector -d 'Only services whose labels match the selector, as kubectl\'s' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l builtin -d 'When the built-in catalog is used [default: auto]' -r -f -a "auto\t'Runtimes where the input has none of that API, accelerator classes where it has none and has Nodes of the class, and objects that the input names. None for a live cluster, an input with `metadata.uid`'
always\t'Beside the runtimes and classes of the input'
never\t'Not at all, not by name either'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l no-builtin -d 'The same as `--builtin never`' -r -f -a "true\t''
false\t''"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l semantics -d 'Follow the published documents, or the code of the controllers' -r -f -a "documented\t'The documents as written'
controller\t'As the code of the operators decides'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l release -d 'Follow a release of an operator, as `ome=v0.1.4`; repeatable' -r -f -a "kserve=v0.19.0\t''
kserve=v0.20.0\t''
kserve=head\t''
kserve=odh\t''
kthena=v0.1.0\t''
kthena=v0.4.0\t''
kthena=v1.0.0\t''
kthena=head\t''
kubernetes=1.35\t''
kubernetes=1.36\t''
kubernetes=1.37\t''
lws=v0.7.0\t''
lws=v0.8.0\t''
lws=v0.9.0\t''
lws=v0.10.0\t''
ome=v0.1.3\t''
ome=v0.1.4\t''
ome=v0.1.5\t''
ome=17b77eda\t''
ome=v1.1.0\t''
ome=v1.2.0\t''
ome=v1.2.2\t''
ome=head\t''"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l kthena-profile -d 'A release of Kthena whose behavior ModelServings follow instead of the document\'s; manifests are read as the documents read them' -r -f -a "v0.1\t'v0.1.0 of 2025-10'
v1.0\t'v1.0.0 of 2026-07'
head\t'volcano-sh/kthena @3cc0572, as under controller semantics'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l deployment-mode -d 'Default deployment mode for KServe InferenceServices without the annotation' -r -f -a "RawDeployment\t''
Serverless\t''
Standard\t''
Knative\t''"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l model-configs -d 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory' -r -F
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l hf-cache -d 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]' -r -F
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l model-facts -d 'Whether models are completed from the built-in table of published models [default: auto]' -r -f -a "auto\t'For what manifests and config.json files leave out. Not with `--semantics controller --no-builtin`, which decides as the controller does on the objects that are read, before the model agent has completed any'
always\t'For values that manifests and config.json files do not set, in every mode'
never\t'Not at all'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l device-tolerations -d 'Whether pods tolerate the taints of the devices that they request, as the admission plugin ExtendedResourceToleration makes them [default: assume]' -r -f -a "assume\t'They do, unless pods of the input show that they do not'
never\t'They have only the tolerations that they state'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l config -d 'Settings file; by default `ome.toml` is searched upward from the working directory, and `$XDG_CONFIG_HOME/ome/config.toml` has what it leaves out' -r -F
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l exclude -d 'Files and directories below `-f` that are not read, as in `.gitignore`; repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l in -d 'Use the definitions of this directory where there are several' -r -f -a "(__fish_complete_directories)"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l max-file-size -d 'Largest file that is read [default: 512MiB, of which one object has at most 8MiB]' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l max-depth -d 'Deepest nesting of a document [default: 64]' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l max-nodes -d 'Most nodes of a document, aliases expanded [default: 1000000]' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l max-files -d 'Most files that are read below the paths of `-f` [default: 50000]' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l jobs -d 'Threads, at most 4 per core; the output does not depend on it [default: one per core]' -r
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -s o -l output -d 'Output format' -r -f -a "table\t'A table for people'
yaml\t'The objects to create or update, nothing else'
json\t'One JSON document; its schema has a version'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l kueue-version -d 'Version of new flavors' -r -f -a "v1beta1\t'Deprecated'
v1beta2\t'The current one'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l follow-outside -d 'Read what links and `paths` of ome.toml lead to outside of the named paths'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -s R -l recursive -d 'Directories are always read recursively; accepted because kubectl requires it'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -s A -l all-namespaces -d 'Services of all namespaces (the default without `-n`)'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l partial -d 'Do not report references to objects that were not loaded'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l no-config -d 'Read no settings file'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l strict -d 'Findings of level warning count as errors'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l split -d 'One flavor for each value, where a class lists several'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l no-tolerations -d 'Write flavors without tolerations: pods must tolerate the taints'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from help" -f -a "import" -d 'Generate AcceleratorClasses from ResourceFlavors'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from help" -f -a "export" -d 'Generate ResourceFlavors from AcceleratorClasses'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from help" -f -a "diff" -d 'Show where the two disagree'
complete -c ome -n "__fish_ome_using_subcommand kueue; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ome -n "__fish_ome_using_subcommand payload; and not __fish_seen_subcommand_from check help" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand payload; and not __fish_seen_subcommand_from check help" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand payload; and not __fish_seen_subcommand_from check help" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand payload; and not __fish_seen_subcommand_from check help" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand payload; and not __fish_seen_subcommand_from check help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand payload; and not __fish_seen_subcommand_from check help" -f -a "check" -d 'Check a body against its protocol: members, types, shapes, datatypes, ranges, raw contents'
complete -c ome -n "__fish_ome_using_subcommand payload; and not __fish_seen_subcommand_from check help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ome -n "__fish_ome_using_subcommand payload; and __fish_seen_subcommand_from check" -l protocol -d 'Protocol of the body' -r -f -a "v1\t''
v2\t''
grpc-v2\t''"
complete -c ome -n "__fish_ome_using_subcommand payload; and __fish_seen_subcommand_from check" -l kind -d 'The kind of the body' -r -f -a "predict-request\t''
infer-request\t''
infer-response\t''
model-metadata\t''
error\t''"
complete -c ome -n "__fish_ome_using_subcommand payload; and __fish_seen_subcommand_from check" -l request -d 'The request that an inference response answers: both must have the same id' -r -F
complete -c ome -n "__fish_ome_using_subcommand payload; and __fish_seen_subcommand_from check" -s o -l output -d 'Output format' -r -f -a "human\t'Findings with the text they are about'
json\t'One JSON document; its schema has a version'"
complete -c ome -n "__fish_ome_using_subcommand payload; and __fish_seen_subcommand_from check" -l max-file-size -d 'Largest file that is read [default: 512MiB, of which one object has at most 8MiB]' -r
complete -c ome -n "__fish_ome_using_subcommand payload; and __fish_seen_subcommand_from check" -l max-depth -d 'Deepest nesting of a document [default: 64]' -r
complete -c ome -n "__fish_ome_using_subcommand payload; and __fish_seen_subcommand_from check" -l max-nodes -d 'Most nodes of a document, aliases expanded [default: 1000000]' -r
complete -c ome -n "__fish_ome_using_subcommand payload; and __fish_seen_subcommand_from check" -l max-files -d 'Most files that are read below the paths of `-f` [default: 50000]' -r
complete -c ome -n "__fish_ome_using_subcommand payload; and __fish_seen_subcommand_from check" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand payload; and __fish_seen_subcommand_from check" -l strict -d 'Findings of level warning count as errors'
complete -c ome -n "__fish_ome_using_subcommand payload; and __fish_seen_subcommand_from check" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand payload; and __fish_seen_subcommand_from check" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand payload; and __fish_seen_subcommand_from check" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand payload; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand payload; and __fish_seen_subcommand_from help" -f -a "check" -d 'Check a body against its protocol: members, types, shapes, datatypes, ranges, raw contents'
complete -c ome -n "__fish_ome_using_subcommand payload; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ome -n "__fish_ome_using_subcommand man" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand man" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand man" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand man" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand version" -s o -l output -d 'Output format' -r -f -a "table\t'Tables'
json\t'One JSON document; its schema has a version'
yaml\t'The same document as YAML'"
complete -c ome -n "__fish_ome_using_subcommand version" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand version" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand version" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand version" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand version" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand convert" -s f -l filename -d 'File, directory or `-`; repeatable [default: the current directory]' -r -F
complete -c ome -n "__fish_ome_using_subcommand convert" -l presets -d 'File or directory with the LLMInferenceServiceConfigs of the cluster, read besides the input; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand convert" -s k -l kustomize -d 'Kustomize directory, which is built; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand convert" -l kustomize-command -d 'Program that builds the directories of `-k`, with its arguments [default: the first of `kustomize build` and `kubectl kustomize` on PATH]' -r
complete -c ome -n "__fish_ome_using_subcommand convert" -l overlays -d 'Whether overlays below `-f` are built [default: never]' -r -f -a "auto\t'Those whose files are all in the repository'
never\t'None'"
complete -c ome -n "__fish_ome_using_subcommand convert" -s n -l namespace -d 'Only the services of a namespace' -r
complete -c ome -n "__fish_ome_using_subcommand convert" -s l -l selector -d 'Only services whose labels match the selector, as kubectl\'s' -r
complete -c ome -n "__fish_ome_using_subcommand convert" -l builtin -d 'When the built-in catalog is used [default: auto]' -r -f -a "auto\t'Runtimes where the input has none of that API, accelerator classes where it has none and has Nodes of the class, and objects that the input names. None for a live cluster, an input with `metadata.uid`'
always\t'Beside the runtimes and classes of the input'
never\t'Not at all, not by name either'"
complete -c ome -n "__fish_ome_using_subcommand convert" -l no-builtin -d 'The same as `--builtin never`' -r -f -a "true\t''
false\t''"
complete -c ome -n "__fish_ome_using_subcommand convert" -l semantics -d 'Follow the published documents, or the code of the controllers' -r -f -a "documented\t'The documents as written'
controller\t'As the code of the operators decides'"
complete -c ome -n "__fish_ome_using_subcommand convert" -l release -d 'Follow a release of an operator, as `ome=v0.1.4`; repeatable' -r -f -a "kserve=v0.19.0\t''
kserve=v0.20.0\t''
kserve=head\t''
kserve=odh\t''
kthena=v0.1.0\t''
kthena=v0.4.0\t''
kthena=v1.0.0\t''
kthena=head\t''
kubernetes=1.35\t''
kubernetes=1.36\t''
kubernetes=1.37\t''
lws=v0.7.0\t''
lws=v0.8.0\t''
lws=v0.9.0\t''
lws=v0.10.0\t''
ome=v0.1.3\t''
ome=v0.1.4\t''
ome=v0.1.5\t''
ome=17b77eda\t''
ome=v1.1.0\t''
ome=v1.2.0\t''
ome=v1.2.2\t''
ome=head\t''"
complete -c ome -n "__fish_ome_using_subcommand convert" -l kthena-profile -d 'A release of Kthena whose behavior ModelServings follow instead of the document\'s; manifests are read as the documents read them' -r -f -a "v0.1\t'v0.1.0 of 2025-10'
v1.0\t'v1.0.0 of 2026-07'
head\t'volcano-sh/kthena @3cc0572, as under controller semantics'"
complete -c ome -n "__fish_ome_using_subcommand convert" -l deployment-mode -d 'Default deployment mode for KServe InferenceServices without the annotation' -r -f -a "RawDeployment\t''
Serverless\t''
Standard\t''
Knative\t''"
complete -c ome -n "__fish_ome_using_subcommand convert" -l model-configs -d 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory' -r -F
complete -c ome -n "__fish_ome_using_subcommand convert" -l hf-cache -d 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]' -r -F
complete -c ome -n "__fish_ome_using_subcommand convert" -l model-facts -d 'Whether models are completed from the built-in table of published models [default: auto]' -r -f -a "auto\t'For what manifests and config.json files leave out. Not with `--semantics controller --no-builtin`, which decides as the controller does on the objects that are read, before the model agent has completed any'
always\t'For values that manifests and config.json files do not set, in every mode'
never\t'Not at all'"
complete -c ome -n "__fish_ome_using_subcommand convert" -l device-tolerations -d 'Whether pods tolerate the taints of the devices that they request, as the admission plugin ExtendedResourceToleration makes them [default: assume]' -r -f -a "assume\t'They do, unless pods of the input show that they do not'
never\t'They have only the tolerations that they state'"
complete -c ome -n "__fish_ome_using_subcommand convert" -l config -d 'Settings file; by default `ome.toml` is searched upward from the working directory, and `$XDG_CONFIG_HOME/ome/config.toml` has what it leaves out' -r -F
complete -c ome -n "__fish_ome_using_subcommand convert" -l exclude -d 'Files and directories below `-f` that are not read, as in `.gitignore`; repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand convert" -l in -d 'Use the definitions of this directory where there are several' -r -f -a "(__fish_complete_directories)"
complete -c ome -n "__fish_ome_using_subcommand convert" -l max-file-size -d 'Largest file that is read [default: 512MiB, of which one object has at most 8MiB]' -r
complete -c ome -n "__fish_ome_using_subcommand convert" -l max-depth -d 'Deepest nesting of a document [default: 64]' -r
complete -c ome -n "__fish_ome_using_subcommand convert" -l max-nodes -d 'Most nodes of a document, aliases expanded [default: 1000000]' -r
complete -c ome -n "__fish_ome_using_subcommand convert" -l max-files -d 'Most files that are read below the paths of `-f` [default: 50000]' -r
complete -c ome -n "__fish_ome_using_subcommand convert" -l jobs -d 'Threads, at most 4 per core; the output does not depend on it [default: one per core]' -r
complete -c ome -n "__fish_ome_using_subcommand convert" -l to -d 'The form to convert to, instead of the current one' -r -f -a "ome\t'Services and runtimes of KServe become objects of OME; the model that a service describes becomes a BaseModel'
shipped\t'Objects of OME that a server with the CRDs of OME v0.1.5 accepts: accelerator fields of OEP-0003 become those of the CRDs, and other fields that it refuses are corrected or reported as lost'
oep\t'Accelerator fields of the CRDs become those that OEP-0003 proposes'
previous\t'Current fields become deprecated ones, for older operators: `predictor.sklearn` of KServe, `supportedModelFormats[].name` of OME'"
complete -c ome -n "__fish_ome_using_subcommand convert" -s o -l output -d 'Output format' -r -f -a "yaml\t'YAML documents, `---` between them'
json\t'A JSON object of kind `List`'"
complete -c ome -n "__fish_ome_using_subcommand convert" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand convert" -l follow-outside -d 'Read what links and `paths` of ome.toml lead to outside of the named paths'
complete -c ome -n "__fish_ome_using_subcommand convert" -s R -l recursive -d 'Directories are always read recursively; accepted because kubectl requires it'
complete -c ome -n "__fish_ome_using_subcommand convert" -s A -l all-namespaces -d 'Services of all namespaces (the default without `-n`)'
complete -c ome -n "__fish_ome_using_subcommand convert" -l partial -d 'Do not report references to objects that were not loaded'
complete -c ome -n "__fish_ome_using_subcommand convert" -l no-config -d 'Read no settings file'
complete -c ome -n "__fish_ome_using_subcommand convert" -l strict -d 'Findings of level warning count as errors'
complete -c ome -n "__fish_ome_using_subcommand convert" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand convert" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand convert" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand convert" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand schema" -l api-version -d 'Group and version, when several groups have the kind' -r
complete -c ome -n "__fish_ome_using_subcommand schema" -s o -l output -d '`table`, `json-schema`, or with `--all` `dir=DIR`' -r
complete -c ome -n "__fish_ome_using_subcommand schema" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand schema" -l all -d 'Write the schemas of all kinds into a directory'
complete -c ome -n "__fish_ome_using_subcommand schema" -l kustomize-openapi -d 'Print OpenAPI definitions with the merge keys of lists, for the field `openapi` of a kustomization; without KIND those of all kinds'
complete -c ome -n "__fish_ome_using_subcommand schema" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand schema" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand schema" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand lsp" -s f -l filename -d 'File, directory or `-`; repeatable [default: the current directory]' -r -F
complete -c ome -n "__fish_ome_using_subcommand lsp" -l presets -d 'File or directory with the LLMInferenceServiceConfigs of the cluster, read besides the input; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand lsp" -s k -l kustomize -d 'Kustomize directory, which is built; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand lsp" -l kustomize-command -d 'Program that builds the directories of `-k`, with its arguments [default: the first of `kustomize build` and `kubectl kustomize` on PATH]' -r
complete -c ome -n "__fish_ome_using_subcommand lsp" -l overlays -d 'Whether overlays below `-f` are built [default: never]' -r -f -a "auto\t'Those whose files are all in the repository'
never\t'None'"
complete -c ome -n "__fish_ome_using_subcommand lsp" -s n -l namespace -d 'Only the services of a namespace' -r
complete -c ome -n "__fish_ome_using_subcommand lsp" -s l -l selector -d 'Only services whose labels match the selector, as kubectl\'s' -r
complete -c ome -n "__fish_ome_using_subcommand lsp" -l builtin -d 'When the built-in catalog is used [default: auto]' -r -f -a "auto\t'Runtimes where the input has none of that API, accelerator classes where it has none and has Nodes of the class, and objects that the input names. None for a live cluster, an input with `metadata.uid`'
always\t'Beside the runtimes and classes of the input'
never\t'Not at all, not by name either'"
complete -c ome -n "__fish_ome_using_subcommand lsp" -l no-builtin -d 'The same as `--builtin never`' -r -f -a "true\t''
false\t''"
complete -c ome -n "__fish_ome_using_subcommand lsp" -l semantics -d 'Follow the published documents, or the code of the controllers' -r -f -a "documented\t'The documents as written'
controller\t'As the code of the operators decides'"
complete -c ome -n "__fish_ome_using_subcommand lsp" -l release -d 'Follow a release of an operator, as `ome=v0.1.4`; repeatable' -r -f -a "kserve=v0.19.0\t''
kserve=v0.20.0\t''
kserve=head\t''
kserve=odh\t''
kthena=v0.1.0\t''
kthena=v0.4.0\t''
kthena=v1.0.0\t''
kthena=head\t''
kubernetes=1.35\t''
kubernetes=1.36\t''
kubernetes=1.37\t''
lws=v0.7.0\t''
lws=v0.8.0\t''
lws=v0.9.0\t''
lws=v0.10.0\t''
ome=v0.1.3\t''
ome=v0.1.4\t''
ome=v0.1.5\t''
ome=17b77eda\t''
ome=v1.1.0\t''
ome=v1.2.0\t''
ome=v1.2.2\t''
ome=head\t''"
complete -c ome -n "__fish_ome_using_subcommand lsp" -l kthena-profile -d 'A release of Kthena whose behavior ModelServings follow instead of the document\'s; manifests are read as the documents read them' -r -f -a "v0.1\t'v0.1.0 of 2025-10'
v1.0\t'v1.0.0 of 2026-07'
head\t'volcano-sh/kthena @3cc0572, as under controller semantics'"
complete -c ome -n "__fish_ome_using_subcommand lsp" -l deployment-mode -d 'Default deployment mode for KServe InferenceServices without the annotation' -r -f -a "RawDeployment\t''
Serverless\t''
Standard\t''
Knative\t''"
complete -c ome -n "__fish_ome_using_subcommand lsp" -l model-configs -d 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory' -r -F
complete -c ome -n "__fish_ome_using_subcommand lsp" -l hf-cache -d 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]' -r -F
complete -c ome -n "__fish_ome_using_subcommand lsp" -l model-facts -d 'Whether models are completed from the built-in table of published models [default: auto]' -r -f -a "auto\t'For what manifests and config.json files leave out. Not with `--semantics controller --no-builtin`, which decides as the controller does on the objects that are read, before the model agent has completed any'
always\t'For values that manifests and config.json files do not set, in every mode'
never\t'Not at all'"
complete -c ome -n "__fish_ome_using_subcommand lsp" -l device-tolerations -d 'Whether pods tolerate the taints of the devices that they request, as the admission plugin ExtendedResourceToleration makes them [default: assume]' -r -f -a "assume\t'They do, unless pods of the input show that they do not'
never\t'They have only the tolerations that they state'"
complete -c ome -n "__fish_ome_using_subcommand lsp" -l config -d 'Settings file; by default `ome.toml` is searched upward from the working directory, and `$XDG_CONFIG_HOME/ome/config.toml` has what it leaves out' -r -F
complete -c ome -n "__fish_ome_using_subcommand lsp" -l exclude -d 'Files and directories below `-f` that are not read, as in `.gitignore`; repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand lsp" -l in -d 'Use the definitions of this directory where there are several' -r -f -a "(__fish_complete_directories)"
complete -c ome -n "__fish_ome_using_subcommand lsp" -l max-file-size -d 'Largest file that is read [default: 512MiB, of which one object has at most 8MiB]' -r
complete -c ome -n "__fish_ome_using_subcommand lsp" -l max-depth -d 'Deepest nesting of a document [default: 64]' -r
complete -c ome -n "__fish_ome_using_subcommand lsp" -l max-nodes -d 'Most nodes of a document, aliases expanded [default: 1000000]' -r
complete -c ome -n "__fish_ome_using_subcommand lsp" -l max-files -d 'Most files that are read below the paths of `-f` [default: 50000]' -r
complete -c ome -n "__fish_ome_using_subcommand lsp" -l jobs -d 'Threads, at most 4 per core; the output does not depend on it [default: one per core]' -r
complete -c ome -n "__fish_ome_using_subcommand lsp" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand lsp" -l follow-outside -d 'Read what links and `paths` of ome.toml lead to outside of the named paths'
complete -c ome -n "__fish_ome_using_subcommand lsp" -s R -l recursive -d 'Directories are always read recursively; accepted because kubectl requires it'
complete -c ome -n "__fish_ome_using_subcommand lsp" -s A -l all-namespaces -d 'Services of all namespaces (the default without `-n`)'
complete -c ome -n "__fish_ome_using_subcommand lsp" -l partial -d 'Do not report references to objects that were not loaded'
complete -c ome -n "__fish_ome_using_subcommand lsp" -l no-config -d 'Read no settings file'
complete -c ome -n "__fish_ome_using_subcommand lsp" -l strict -d 'Findings of level warning count as errors'
complete -c ome -n "__fish_ome_using_subcommand lsp" -l stdio -d 'Use standard input and output, which is what it always does; editors pass the flag'
complete -c ome -n "__fish_ome_using_subcommand lsp" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand lsp" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand lsp" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand lsp" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand endpoints" -s f -l filename -d 'File, directory or `-`; repeatable [default: the current directory]' -r -F
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l presets -d 'File or directory with the LLMInferenceServiceConfigs of the cluster, read besides the input; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand endpoints" -s k -l kustomize -d 'Kustomize directory, which is built; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l kustomize-command -d 'Program that builds the directories of `-k`, with its arguments [default: the first of `kustomize build` and `kubectl kustomize` on PATH]' -r
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l overlays -d 'Whether overlays below `-f` are built [default: never]' -r -f -a "auto\t'Those whose files are all in the repository'
never\t'None'"
complete -c ome -n "__fish_ome_using_subcommand endpoints" -s n -l namespace -d 'Only the services of a namespace' -r
complete -c ome -n "__fish_ome_using_subcommand endpoints" -s l -l selector -d 'Only services whose labels match the selector, as kubectl\'s' -r
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l builtin -d 'When the built-in catalog is used [default: auto]' -r -f -a "auto\t'Runtimes where the input has none of that API, accelerator classes where it has none and has Nodes of the class, and objects that the input names. None for a live cluster, an input with `metadata.uid`'
always\t'Beside the runtimes and classes of the input'
never\t'Not at all, not by name either'"
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l no-builtin -d 'The same as `--builtin never`' -r -f -a "true\t''
false\t''"
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l semantics -d 'Follow the published documents, or the code of the controllers' -r -f -a "documented\t'The documents as written'
controller\t'As the code of the operators decides'"
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l release -d 'Follow a release of an operator, as `ome=v0.1.4`; repeatable' -r -f -a "kserve=v0.19.0\t''
kserve=v0.20.0\t''
kserve=head\t''
kserve=odh\t''
kthena=v0.1.0\t''
kthena=v0.4.0\t''
kthena=v1.0.0\t''
kthena=head\t''
kubernetes=1.35\t''
kubernetes=1.36\t''
kubernetes=1.37\t''
lws=v0.7.0\t''
lws=v0.8.0\t''
lws=v0.9.0\t''
lws=v0.10.0\t''
ome=v0.1.3\t''
ome=v0.1.4\t''
ome=v0.1.5\t''
ome=17b77eda\t''
ome=v1.1.0\t''
ome=v1.2.0\t''
ome=v1.2.2\t''
ome=head\t''"
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l kthena-profile -d 'A release of Kthena whose behavior ModelServings follow instead of the document\'s; manifests are read as the documents read them' -r -f -a "v0.1\t'v0.1.0 of 2025-10'
v1.0\t'v1.0.0 of 2026-07'
head\t'volcano-sh/kthena @3cc0572, as under controller semantics'"
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l deployment-mode -d 'Default deployment mode for KServe InferenceServices without the annotation' -r -f -a "RawDeployment\t''
Serverless\t''
Standard\t''
Knative\t''"
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l model-configs -d 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory' -r -F
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l hf-cache -d 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]' -r -F
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l model-facts -d 'Whether models are completed from the built-in table of published models [default: auto]' -r -f -a "auto\t'For what manifests and config.json files leave out. Not with `--semantics controller --no-builtin`, which decides as the controller does on the objects that are read, before the model agent has completed any'
always\t'For values that manifests and config.json files do not set, in every mode'
never\t'Not at all'"
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l device-tolerations -d 'Whether pods tolerate the taints of the devices that they request, as the admission plugin ExtendedResourceToleration makes them [default: assume]' -r -f -a "assume\t'They do, unless pods of the input show that they do not'
never\t'They have only the tolerations that they state'"
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l config -d 'Settings file; by default `ome.toml` is searched upward from the working directory, and `$XDG_CONFIG_HOME/ome/config.toml` has what it leaves out' -r -F
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l exclude -d 'Files and directories below `-f` that are not read, as in `.gitignore`; repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l in -d 'Use the definitions of this directory where there are several' -r -f -a "(__fish_complete_directories)"
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l max-file-size -d 'Largest file that is read [default: 512MiB, of which one object has at most 8MiB]' -r
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l max-depth -d 'Deepest nesting of a document [default: 64]' -r
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l max-nodes -d 'Most nodes of a document, aliases expanded [default: 1000000]' -r
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l max-files -d 'Most files that are read below the paths of `-f` [default: 50000]' -r
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l jobs -d 'Threads, at most 4 per core; the output does not depend on it [default: one per core]' -r
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l model-version -d 'Version of the model in paths, where the protocol has versions' -r
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l cluster-domain -d 'DNS domain of the cluster' -r
complete -c ome -n "__fish_ome_using_subcommand endpoints" -s o -l output -d 'Output format' -r -f -a "table\t'Tables'
json\t'One JSON document; its schema has a version'
yaml\t'The same document as YAML'"
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l protocol -d 'The requested protocol of every service; overrides the services' -r
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l feature-gates -d 'Comma-separated NAME=true or NAME=false. Known gate: AcceleratorAwareScheduling (default true)' -r
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l request-size -d 'Size of requests in tokens (`k` = 1000), for conditions of preferences; over the annotation' -r
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l args-order -d 'Order of arguments: runtime, service, accelerator; accelerator, runtime, service; runtime, accelerator, service' -r -f -a "default\t'Runtime, service, accelerator'
accelerator-first\t'Accelerator, runtime, service'
hierarchy\t'Runtime, accelerator, service'"
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l follow-outside -d 'Read what links and `paths` of ome.toml lead to outside of the named paths'
complete -c ome -n "__fish_ome_using_subcommand endpoints" -s R -l recursive -d 'Directories are always read recursively; accepted because kubectl requires it'
complete -c ome -n "__fish_ome_using_subcommand endpoints" -s A -l all-namespaces -d 'Services of all namespaces (the default without `-n`)'
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l partial -d 'Do not report references to objects that were not loaded'
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l no-config -d 'Read no settings file'
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l strict -d 'Findings of level warning count as errors'
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l payload -d 'Add skeletons of requests, responses and errors'
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l proto -d 'Add the messages of the gRPC service with the numbers of their fields'
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l strict-preferred -d 'Fail if no preferred class is eligible'
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l allow-unknown -d 'A preferred class passes although its capabilities are unknown'
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l strict-cost -d 'Fail if no class is under the cost threshold'
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l dedupe-args -d 'Drop duplicate flags: the service\'s value wins, otherwise the last one'
complete -c ome -n "__fish_ome_using_subcommand endpoints" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand endpoints" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand endpoints" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand endpoints" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand dump" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand dump" -l print-command -d 'Print the command'
complete -c ome -n "__fish_ome_using_subcommand dump" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand dump" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand dump" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand dump" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand code" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand code" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand code" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand code" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand code" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand config" -s f -l filename -d 'File, directory or `-`; repeatable [default: the current directory]' -r -F
complete -c ome -n "__fish_ome_using_subcommand config" -l presets -d 'File or directory with the LLMInferenceServiceConfigs of the cluster, read besides the input; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand config" -s k -l kustomize -d 'Kustomize directory, which is built; repeatable' -r -F
complete -c ome -n "__fish_ome_using_subcommand config" -l kustomize-command -d 'Program that builds the directories of `-k`, with its arguments [default: the first of `kustomize build` and `kubectl kustomize` on PATH]' -r
complete -c ome -n "__fish_ome_using_subcommand config" -l overlays -d 'Whether overlays below `-f` are built [default: never]' -r -f -a "auto\t'Those whose files are all in the repository'
never\t'None'"
complete -c ome -n "__fish_ome_using_subcommand config" -s n -l namespace -d 'Only the services of a namespace' -r
complete -c ome -n "__fish_ome_using_subcommand config" -s l -l selector -d 'Only services whose labels match the selector, as kubectl\'s' -r
complete -c ome -n "__fish_ome_using_subcommand config" -l builtin -d 'When the built-in catalog is used [default: auto]' -r -f -a "auto\t'Runtimes where the input has none of that API, accelerator classes where it has none and has Nodes of the class, and objects that the input names. None for a live cluster, an input with `metadata.uid`'
always\t'Beside the runtimes and classes of the input'
never\t'Not at all, not by name either'"
complete -c ome -n "__fish_ome_using_subcommand config" -l no-builtin -d 'The same as `--builtin never`' -r -f -a "true\t''
false\t''"
complete -c ome -n "__fish_ome_using_subcommand config" -l semantics -d 'Follow the published documents, or the code of the controllers' -r -f -a "documented\t'The documents as written'
controller\t'As the code of the operators decides'"
complete -c ome -n "__fish_ome_using_subcommand config" -l release -d 'Follow a release of an operator, as `ome=v0.1.4`; repeatable' -r -f -a "kserve=v0.19.0\t''
kserve=v0.20.0\t''
kserve=head\t''
kserve=odh\t''
kthena=v0.1.0\t''
kthena=v0.4.0\t''
kthena=v1.0.0\t''
kthena=head\t''
kubernetes=1.35\t''
kubernetes=1.36\t''
kubernetes=1.37\t''
lws=v0.7.0\t''
lws=v0.8.0\t''
lws=v0.9.0\t''
lws=v0.10.0\t''
ome=v0.1.3\t''
ome=v0.1.4\t''
ome=v0.1.5\t''
ome=17b77eda\t''
ome=v1.1.0\t''
ome=v1.2.0\t''
ome=v1.2.2\t''
ome=head\t''"
complete -c ome -n "__fish_ome_using_subcommand config" -l kthena-profile -d 'A release of Kthena whose behavior ModelServings follow instead of the document\'s; manifests are read as the documents read them' -r -f -a "v0.1\t'v0.1.0 of 2025-10'
v1.0\t'v1.0.0 of 2026-07'
head\t'volcano-sh/kthena @3cc0572, as under controller semantics'"
complete -c ome -n "__fish_ome_using_subcommand config" -l deployment-mode -d 'Default deployment mode for KServe InferenceServices without the annotation' -r -f -a "RawDeployment\t''
Serverless\t''
Standard\t''
Knative\t''"
complete -c ome -n "__fish_ome_using_subcommand config" -l model-configs -d 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory' -r -F
complete -c ome -n "__fish_ome_using_subcommand config" -l hf-cache -d 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]' -r -F
complete -c ome -n "__fish_ome_using_subcommand config" -l model-facts -d 'Whether models are completed from the built-in table of published models [default: auto]' -r -f -a "auto\t'For what manifests and config.json files leave out. Not with `--semantics controller --no-builtin`, which decides as the controller does on the objects that are read, before the model agent has completed any'
always\t'For values that manifests and config.json files do not set, in every mode'
never\t'Not at all'"
complete -c ome -n "__fish_ome_using_subcommand config" -l device-tolerations -d 'Whether pods tolerate the taints of the devices that they request, as the admission plugin ExtendedResourceToleration makes them [default: assume]' -r -f -a "assume\t'They do, unless pods of the input show that they do not'
never\t'They have only the tolerations that they state'"
complete -c ome -n "__fish_ome_using_subcommand config" -l config -d 'Settings file; by default `ome.toml` is searched upward from the working directory, and `$XDG_CONFIG_HOME/ome/config.toml` has what it leaves out' -r -F
complete -c ome -n "__fish_ome_using_subcommand config" -l exclude -d 'Files and directories below `-f` that are not read, as in `.gitignore`; repeatable' -r
complete -c ome -n "__fish_ome_using_subcommand config" -l in -d 'Use the definitions of this directory where there are several' -r -f -a "(__fish_complete_directories)"
complete -c ome -n "__fish_ome_using_subcommand config" -l max-file-size -d 'Largest file that is read [default: 512MiB, of which one object has at most 8MiB]' -r
complete -c ome -n "__fish_ome_using_subcommand config" -l max-depth -d 'Deepest nesting of a document [default: 64]' -r
complete -c ome -n "__fish_ome_using_subcommand config" -l max-nodes -d 'Most nodes of a document, aliases expanded [default: 1000000]' -r
complete -c ome -n "__fish_ome_using_subcommand config" -l max-files -d 'Most files that are read below the paths of `-f` [default: 50000]' -r
complete -c ome -n "__fish_ome_using_subcommand config" -l jobs -d 'Threads, at most 4 per core; the output does not depend on it [default: one per core]' -r
complete -c ome -n "__fish_ome_using_subcommand config" -s o -l output -d 'Output format' -r -f -a "table\t'Tables'
json\t'One JSON document; its schema has a version'
yaml\t'The same document as YAML'"
complete -c ome -n "__fish_ome_using_subcommand config" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand config" -l follow-outside -d 'Read what links and `paths` of ome.toml lead to outside of the named paths'
complete -c ome -n "__fish_ome_using_subcommand config" -s R -l recursive -d 'Directories are always read recursively; accepted because kubectl requires it'
complete -c ome -n "__fish_ome_using_subcommand config" -s A -l all-namespaces -d 'Services of all namespaces (the default without `-n`)'
complete -c ome -n "__fish_ome_using_subcommand config" -l partial -d 'Do not report references to objects that were not loaded'
complete -c ome -n "__fish_ome_using_subcommand config" -l no-config -d 'Read no settings file'
complete -c ome -n "__fish_ome_using_subcommand config" -l strict -d 'Findings of level warning count as errors'
complete -c ome -n "__fish_ome_using_subcommand config" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand config" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand config" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand config" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand completions" -l color -d 'When to use color' -r -f -a "auto\t'On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; `CLICOLOR_FORCE` forces it'
always\t'Always'
never\t'Never'"
complete -c ome -n "__fish_ome_using_subcommand completions" -s v -l verbose -d 'Show findings with their lines, which files were read, and how long it took'
complete -c ome -n "__fish_ome_using_subcommand completions" -s q -l quiet -d 'Show no finding below the level error'
complete -c ome -n "__fish_ome_using_subcommand completions" -l no-pager -d 'Write output that is longer than the terminal without `PAGER` (`less`)'
complete -c ome -n "__fish_ome_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "discover" -d 'Generate AcceleratorClasses from Nodes: what to create, to update and to keep, with the evidence for each value'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "import" -d 'Read from a model\'s config.json what selection needs: format, framework, architecture, size, quantization, context'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "plan" -d 'Show what each service becomes: model, runtime, deployment modes, replicas, GPUs'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "explain" -d 'Show every step of the selection: candidates, rules with their operands, the tie-break that decided; of a ModelServing its groups, roles and gangs; of a runtime or a model the services that use it, that could, and why the others cannot'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "why" -d 'Show the source of each field of a rendered object, and the values that it overrides'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "render" -d 'Print the manifests that the operator would create'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "diff" -d 'Show what a change of the manifests does: services that change, pods that restart, GPUs before and after, and the lines of the input that cause it'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "drain" -d 'Show what happens when nodes are drained: which pods are evicted, where their controllers create them again, and what blocks them; or which nodes can be given back'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "drift" -d 'Show where a cluster differs from what the operator would write now: objects that are missing, left over or changed, each field with the layer that sets it'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "rollout" -d 'Show what a change does to pods: in which order, with what capacity, and where it gets stuck'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "matrix" -d 'Show which runtime would serve which model on which accelerator class, with ties, and the reason where no runtime would. Services that describe their own model are rows too'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "validate" -d 'Check the input: syntax, schema, references, the catalog as a whole'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "catalog" -d 'List and show runtimes, models and accelerator classes, built-in and your own'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "test" -d 'Check expectations: which runtime, accelerator, mode and GPUs services get, and fields of their objects'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "kueue" -d 'Keep AcceleratorClasses and Kueue\'s ResourceFlavors in step'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "payload" -d 'Check requests and responses of the inference protocols V1, V2 and V2 over gRPC'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "man" -d 'Print the manual page, or write one for each command into a directory'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "version" -d 'Print the version; with `-o json`, also the commit and its date, the known releases of operators and how each is known'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "convert" -d 'Convert objects: deprecated fields, KServe to OME, accelerator fields of the CRDs to those of OEP-0003 and back'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "schema" -d 'Show the fields of a kind, as `kubectl explain` does: what each is for, its type, its default'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "lsp" -d 'Serve an editor over standard input and output, by the Language Server Protocol: findings as you type, decisions on services, users of a runtime, definitions, completion, repairs'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "endpoints" -d 'Show the URLs services answer on, per protocol: inference, health and metadata'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "dump" -d 'Print the kubectl command that dumps what `ome` reads of a cluster'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "code" -d 'Explain a finding, reason or error code, or list them all'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "config" -d 'Print the settings that commands follow here, and where each comes from: a flag, a variable, a line of a settings file, or the default'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "completions" -d 'Print a completion script: flags, and the services, runtimes, kinds, fields and codes of the input'
complete -c ome -n "__fish_ome_using_subcommand help; and not __fish_seen_subcommand_from discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ome -n "__fish_ome_using_subcommand help; and __fish_seen_subcommand_from catalog" -f -a "list" -d 'List what is loaded; filters are ANDed'
complete -c ome -n "__fish_ome_using_subcommand help; and __fish_seen_subcommand_from catalog" -f -a "show" -d 'Show one item: an object name, an alias such as `vllm/mistral-7b-instruct-rt`, or a file name only one has'
complete -c ome -n "__fish_ome_using_subcommand help; and __fish_seen_subcommand_from catalog" -f -a "releases" -d 'List the releases of operators that `--release` takes, and what they ship'
complete -c ome -n "__fish_ome_using_subcommand help; and __fish_seen_subcommand_from kueue" -f -a "import" -d 'Generate AcceleratorClasses from ResourceFlavors'
complete -c ome -n "__fish_ome_using_subcommand help; and __fish_seen_subcommand_from kueue" -f -a "export" -d 'Generate ResourceFlavors from AcceleratorClasses'
complete -c ome -n "__fish_ome_using_subcommand help; and __fish_seen_subcommand_from kueue" -f -a "diff" -d 'Show where the two disagree'
complete -c ome -n "__fish_ome_using_subcommand help; and __fish_seen_subcommand_from payload" -f -a "check" -d 'Check a body against its protocol: members, types, shapes, datatypes, ranges, raw contents'
