
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'ome' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'ome'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'ome' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('plan', 'plan', [CompletionResultType]::ParameterValue, 'Show what each service becomes: model, runtime, deployment modes, replicas, GPUs')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Show every step of the selection: candidates, rules with their operands, the tie-break that decided; of a ModelServing its groups, roles and gangs')
            [CompletionResult]::new('why', 'why', [CompletionResultType]::ParameterValue, 'Show which layer wrote a field of a rendered object, and what it overrode')
            [CompletionResult]::new('render', 'render', [CompletionResultType]::ParameterValue, 'Print the manifests that the operator would create')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Show what a change of the manifests does: services that become something else, pods that restart, GPUs before and after, and the lines of the input that cause it')
            [CompletionResult]::new('drift', 'drift', [CompletionResultType]::ParameterValue, 'Show what in a cluster is not as the operator would write it now: objects that are missing, left over or changed, each field with the layer that says otherwise')
            [CompletionResult]::new('rollout', 'rollout', [CompletionResultType]::ParameterValue, 'Show what a change does to pods: in which order, with what capacity, and where it gets stuck')
            [CompletionResult]::new('matrix', 'matrix', [CompletionResultType]::ParameterValue, 'Show which runtime would serve which model on which accelerator class: winner, tie or hole')
            [CompletionResult]::new('validate', 'validate', [CompletionResultType]::ParameterValue, 'Check the input: syntax, schema, references, the catalog as a whole')
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Check expectations: which runtime, accelerator, mode and GPUs services get, and what they become')
            [CompletionResult]::new('discover', 'discover', [CompletionResultType]::ParameterValue, 'Make AcceleratorClasses of Nodes: what to create, what to update, what stays, with the evidence for each value')
            [CompletionResult]::new('catalog', 'catalog', [CompletionResultType]::ParameterValue, 'List and show runtimes, models and accelerator classes, built-in and your own')
            [CompletionResult]::new('kueue', 'kueue', [CompletionResultType]::ParameterValue, 'Keep AcceleratorClasses and Kueue''s ResourceFlavors in step')
            [CompletionResult]::new('convert', 'convert', [CompletionResultType]::ParameterValue, 'Rewrite objects in another form: deprecated fields, KServe as OME, the other shape of accelerator fields')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Show the fields of a kind, as `kubectl explain` does: types, defaults, what is required')
            [CompletionResult]::new('import', 'import', [CompletionResultType]::ParameterValue, 'Read from a model''s config.json what selection needs: format, framework, architecture, size, quantization, context')
            [CompletionResult]::new('endpoints', 'endpoints', [CompletionResultType]::ParameterValue, 'Show the URLs services answer on, per protocol: inference, health and metadata')
            [CompletionResult]::new('payload', 'payload', [CompletionResultType]::ParameterValue, 'Check requests and responses of the inference protocols V1, V2 and V2 over gRPC')
            [CompletionResult]::new('code', 'code', [CompletionResultType]::ParameterValue, 'Explain a finding, reason or error code, or list them all')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a completion script')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print the manual page')
            [CompletionResult]::new('version', 'version', [CompletionResultType]::ParameterValue, 'Print the version')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'ome;plan' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--protocol', '--protocol', [CompletionResultType]::ParameterName, 'The protocol asked for, over every service')
            [CompletionResult]::new('--feature-gates', '--feature-gates', [CompletionResultType]::ParameterName, 'Comma-separated NAME=true or NAME=false. Known gate: AcceleratorAwareScheduling (default true)')
            [CompletionResult]::new('--request-size', '--request-size', [CompletionResultType]::ParameterName, 'Size of requests in tokens (`k` = 1000), for conditions of preferences; over the annotation')
            [CompletionResult]::new('--args-order', '--args-order', [CompletionResultType]::ParameterName, 'Order of arguments: runtime, service, accelerator; accelerator, runtime, service; runtime, accelerator, service')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--builtin', '--builtin', [CompletionResultType]::ParameterName, 'When built-in runtimes and accelerator classes are used [default: auto]')
            [CompletionResult]::new('--no-builtin', '--no-builtin', [CompletionResultType]::ParameterName, 'The same as `--builtin never`')
            [CompletionResult]::new('--semantics', '--semantics', [CompletionResultType]::ParameterName, 'Whose word counts: the documents or the shipped controller')
            [CompletionResult]::new('--release', '--release', [CompletionResultType]::ParameterName, 'The release of an operator that is followed, as `ome=v0.1.4`; repeatable. One of OME means `--semantics controller`')
            [CompletionResult]::new('--kthena-profile', '--kthena-profile', [CompletionResultType]::ParameterName, 'A release of Kthena whose behaviour ModelServings follow instead of the document''s; the same as `--release kthena=TAG`')
            [CompletionResult]::new('--deployment-mode', '--deployment-mode', [CompletionResultType]::ParameterName, 'Default deployment mode for KServe InferenceServices without the annotation')
            [CompletionResult]::new('--model-configs', '--model-configs', [CompletionResultType]::ParameterName, 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory')
            [CompletionResult]::new('--hf-cache', '--hf-cache', [CompletionResultType]::ParameterName, 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]')
            [CompletionResult]::new('--model-facts', '--model-facts', [CompletionResultType]::ParameterName, 'Whether models are completed from the built-in table of published models [default: auto]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Settings file; by default `ome.toml` is searched upward from the working directory')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Threads, at most 4 per core; the output does not depend on it [default: one per core]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--strict-preferred', '--strict-preferred', [CompletionResultType]::ParameterName, 'Fail if no preferred class is eligible')
            [CompletionResult]::new('--allow-unknown', '--allow-unknown', [CompletionResultType]::ParameterName, 'A preferred class passes although its capabilities are unknown')
            [CompletionResult]::new('--strict-cost', '--strict-cost', [CompletionResultType]::ParameterName, 'Fail if no class is under the cost threshold')
            [CompletionResult]::new('--dedupe-args', '--dedupe-args', [CompletionResultType]::ParameterName, 'Drop duplicate flags: the service''s value wins, otherwise the last one')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'Do not report references to objects that were not loaded')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no settings file')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Findings of level warning count as errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;explain' {
            [CompletionResult]::new('--runtime', '--runtime', [CompletionResultType]::ParameterName, 'Why not this runtime, and the smallest edit that would make it win')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--protocol', '--protocol', [CompletionResultType]::ParameterName, 'The protocol asked for, over every service')
            [CompletionResult]::new('--feature-gates', '--feature-gates', [CompletionResultType]::ParameterName, 'Comma-separated NAME=true or NAME=false. Known gate: AcceleratorAwareScheduling (default true)')
            [CompletionResult]::new('--request-size', '--request-size', [CompletionResultType]::ParameterName, 'Size of requests in tokens (`k` = 1000), for conditions of preferences; over the annotation')
            [CompletionResult]::new('--args-order', '--args-order', [CompletionResultType]::ParameterName, 'Order of arguments: runtime, service, accelerator; accelerator, runtime, service; runtime, accelerator, service')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--builtin', '--builtin', [CompletionResultType]::ParameterName, 'When built-in runtimes and accelerator classes are used [default: auto]')
            [CompletionResult]::new('--no-builtin', '--no-builtin', [CompletionResultType]::ParameterName, 'The same as `--builtin never`')
            [CompletionResult]::new('--semantics', '--semantics', [CompletionResultType]::ParameterName, 'Whose word counts: the documents or the shipped controller')
            [CompletionResult]::new('--release', '--release', [CompletionResultType]::ParameterName, 'The release of an operator that is followed, as `ome=v0.1.4`; repeatable. One of OME means `--semantics controller`')
            [CompletionResult]::new('--kthena-profile', '--kthena-profile', [CompletionResultType]::ParameterName, 'A release of Kthena whose behaviour ModelServings follow instead of the document''s; the same as `--release kthena=TAG`')
            [CompletionResult]::new('--deployment-mode', '--deployment-mode', [CompletionResultType]::ParameterName, 'Default deployment mode for KServe InferenceServices without the annotation')
            [CompletionResult]::new('--model-configs', '--model-configs', [CompletionResultType]::ParameterName, 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory')
            [CompletionResult]::new('--hf-cache', '--hf-cache', [CompletionResultType]::ParameterName, 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]')
            [CompletionResult]::new('--model-facts', '--model-facts', [CompletionResultType]::ParameterName, 'Whether models are completed from the built-in table of published models [default: auto]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Settings file; by default `ome.toml` is searched upward from the working directory')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Threads, at most 4 per core; the output does not depend on it [default: one per core]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Show every candidate, not only the nearest misses')
            [CompletionResult]::new('--comparisons', '--comparisons', [CompletionResultType]::ParameterName, 'Show every comparison of every entry')
            [CompletionResult]::new('--merge', '--merge', [CompletionResultType]::ParameterName, 'Also show every variable, argument, resource and node selector with who wrote it and over whom')
            [CompletionResult]::new('--strict-preferred', '--strict-preferred', [CompletionResultType]::ParameterName, 'Fail if no preferred class is eligible')
            [CompletionResult]::new('--allow-unknown', '--allow-unknown', [CompletionResultType]::ParameterName, 'A preferred class passes although its capabilities are unknown')
            [CompletionResult]::new('--strict-cost', '--strict-cost', [CompletionResultType]::ParameterName, 'Fail if no class is under the cost threshold')
            [CompletionResult]::new('--dedupe-args', '--dedupe-args', [CompletionResultType]::ParameterName, 'Drop duplicate flags: the service''s value wins, otherwise the last one')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'Do not report references to objects that were not loaded')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no settings file')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Findings of level warning count as errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;why' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--workload', '--workload', [CompletionResultType]::ParameterName, 'The workload around the pods of engine and decoder')
            [CompletionResult]::new('--cluster-domain', '--cluster-domain', [CompletionResultType]::ParameterName, 'The cluster''s DNS domain')
            [CompletionResult]::new('--protocol', '--protocol', [CompletionResultType]::ParameterName, 'The protocol asked for, over every service')
            [CompletionResult]::new('--feature-gates', '--feature-gates', [CompletionResultType]::ParameterName, 'Comma-separated NAME=true or NAME=false. Known gate: AcceleratorAwareScheduling (default true)')
            [CompletionResult]::new('--request-size', '--request-size', [CompletionResultType]::ParameterName, 'Size of requests in tokens (`k` = 1000), for conditions of preferences; over the annotation')
            [CompletionResult]::new('--args-order', '--args-order', [CompletionResultType]::ParameterName, 'Order of arguments: runtime, service, accelerator; accelerator, runtime, service; runtime, accelerator, service')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--builtin', '--builtin', [CompletionResultType]::ParameterName, 'When built-in runtimes and accelerator classes are used [default: auto]')
            [CompletionResult]::new('--no-builtin', '--no-builtin', [CompletionResultType]::ParameterName, 'The same as `--builtin never`')
            [CompletionResult]::new('--semantics', '--semantics', [CompletionResultType]::ParameterName, 'Whose word counts: the documents or the shipped controller')
            [CompletionResult]::new('--release', '--release', [CompletionResultType]::ParameterName, 'The release of an operator that is followed, as `ome=v0.1.4`; repeatable. One of OME means `--semantics controller`')
            [CompletionResult]::new('--kthena-profile', '--kthena-profile', [CompletionResultType]::ParameterName, 'A release of Kthena whose behaviour ModelServings follow instead of the document''s; the same as `--release kthena=TAG`')
            [CompletionResult]::new('--deployment-mode', '--deployment-mode', [CompletionResultType]::ParameterName, 'Default deployment mode for KServe InferenceServices without the annotation')
            [CompletionResult]::new('--model-configs', '--model-configs', [CompletionResultType]::ParameterName, 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory')
            [CompletionResult]::new('--hf-cache', '--hf-cache', [CompletionResultType]::ParameterName, 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]')
            [CompletionResult]::new('--model-facts', '--model-facts', [CompletionResultType]::ParameterName, 'Whether models are completed from the built-in table of published models [default: auto]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Settings file; by default `ome.toml` is searched upward from the working directory')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Threads, at most 4 per core; the output does not depend on it [default: one per core]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--strict-preferred', '--strict-preferred', [CompletionResultType]::ParameterName, 'Fail if no preferred class is eligible')
            [CompletionResult]::new('--allow-unknown', '--allow-unknown', [CompletionResultType]::ParameterName, 'A preferred class passes although its capabilities are unknown')
            [CompletionResult]::new('--strict-cost', '--strict-cost', [CompletionResultType]::ParameterName, 'Fail if no class is under the cost threshold')
            [CompletionResult]::new('--dedupe-args', '--dedupe-args', [CompletionResultType]::ParameterName, 'Drop duplicate flags: the service''s value wins, otherwise the last one')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'Do not report references to objects that were not loaded')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no settings file')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Findings of level warning count as errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;render' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, '`yaml`, `json`, or `dir=PATH`: one file per object under PATH/NAMESPACE/SERVICE/')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, '`yaml`, `json`, or `dir=PATH`: one file per object under PATH/NAMESPACE/SERVICE/')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Compare with a directory that `-o dir=` wrote, and write nothing')
            [CompletionResult]::new('--layout', '--layout', [CompletionResultType]::ParameterName, 'Where `kustomization.yaml` is: one at the root, or one in each namespace and one at the root that lists the namespaces')
            [CompletionResult]::new('--pass-through', '--pass-through', [CompletionResultType]::ParameterName, 'Print what was read too, every byte of it and in its place, with the objects in the place of the service: documents that nothing is rendered from, or with `all` every document. A ResourceList is always answered so')
            [CompletionResult]::new('--stage', '--stage', [CompletionResultType]::ParameterName, 'What is printed: the objects, or components after every merge and before any object')
            [CompletionResult]::new('--workload', '--workload', [CompletionResultType]::ParameterName, 'The workload around the pods of engine and decoder. With `deployment` or `lws` and a Volcano queue, a PodGroup too')
            [CompletionResult]::new('--cluster-domain', '--cluster-domain', [CompletionResultType]::ParameterName, 'The cluster''s DNS domain')
            [CompletionResult]::new('--protocol', '--protocol', [CompletionResultType]::ParameterName, 'The protocol asked for, over every service')
            [CompletionResult]::new('--feature-gates', '--feature-gates', [CompletionResultType]::ParameterName, 'Comma-separated NAME=true or NAME=false. Known gate: AcceleratorAwareScheduling (default true)')
            [CompletionResult]::new('--request-size', '--request-size', [CompletionResultType]::ParameterName, 'Size of requests in tokens (`k` = 1000), for conditions of preferences; over the annotation')
            [CompletionResult]::new('--args-order', '--args-order', [CompletionResultType]::ParameterName, 'Order of arguments: runtime, service, accelerator; accelerator, runtime, service; runtime, accelerator, service')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--builtin', '--builtin', [CompletionResultType]::ParameterName, 'When built-in runtimes and accelerator classes are used [default: auto]')
            [CompletionResult]::new('--no-builtin', '--no-builtin', [CompletionResultType]::ParameterName, 'The same as `--builtin never`')
            [CompletionResult]::new('--semantics', '--semantics', [CompletionResultType]::ParameterName, 'Whose word counts: the documents or the shipped controller')
            [CompletionResult]::new('--release', '--release', [CompletionResultType]::ParameterName, 'The release of an operator that is followed, as `ome=v0.1.4`; repeatable. One of OME means `--semantics controller`')
            [CompletionResult]::new('--kthena-profile', '--kthena-profile', [CompletionResultType]::ParameterName, 'A release of Kthena whose behaviour ModelServings follow instead of the document''s; the same as `--release kthena=TAG`')
            [CompletionResult]::new('--deployment-mode', '--deployment-mode', [CompletionResultType]::ParameterName, 'Default deployment mode for KServe InferenceServices without the annotation')
            [CompletionResult]::new('--model-configs', '--model-configs', [CompletionResultType]::ParameterName, 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory')
            [CompletionResult]::new('--hf-cache', '--hf-cache', [CompletionResultType]::ParameterName, 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]')
            [CompletionResult]::new('--model-facts', '--model-facts', [CompletionResultType]::ParameterName, 'Whether models are completed from the built-in table of published models [default: auto]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Settings file; by default `ome.toml` is searched upward from the working directory')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Threads, at most 4 per core; the output does not depend on it [default: one per core]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--diff', '--diff', [CompletionResultType]::ParameterName, 'Show the lines of files that differ')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'With `-o dir=`: overwrite and remove files that were edited by hand. Files that ome did not write stay in any case')
            [CompletionResult]::new('--kustomization', '--kustomization', [CompletionResultType]::ParameterName, 'With `-o dir=` or `--check`: also `kustomization.yaml`, which lists the files')
            [CompletionResult]::new('--annotate', '--annotate', [CompletionResultType]::ParameterName, 'Add a comment with the source of each field and the value it overrode')
            [CompletionResult]::new('--argocd-waves', '--argocd-waves', [CompletionResultType]::ParameterName, 'Annotate objects with Argo CD''s sync waves, those of `ome rollout`: 0 what pods need, 1 workloads, 2 the router and the way in, 3 what scales and protects them')
            [CompletionResult]::new('--expand', '--expand', [CompletionResultType]::ParameterName, 'What the controller makes of a ModelServing instead of the ModelServing: PodGroups, pods, Services; what webhooks add to pods of KServe: storage initializer and agent. A preview, not to be applied')
            [CompletionResult]::new('--v2-probes', '--v2-probes', [CompletionResultType]::ParameterName, 'Probes of the V2 protocol for servers of KServe that speak it and have none')
            [CompletionResult]::new('--strict-preferred', '--strict-preferred', [CompletionResultType]::ParameterName, 'Fail if no preferred class is eligible')
            [CompletionResult]::new('--allow-unknown', '--allow-unknown', [CompletionResultType]::ParameterName, 'A preferred class passes although its capabilities are unknown')
            [CompletionResult]::new('--strict-cost', '--strict-cost', [CompletionResultType]::ParameterName, 'Fail if no class is under the cost threshold')
            [CompletionResult]::new('--dedupe-args', '--dedupe-args', [CompletionResultType]::ParameterName, 'Drop duplicate flags: the service''s value wins, otherwise the last one')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'Do not report references to objects that were not loaded')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no settings file')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Findings of level warning count as errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;diff' {
            [CompletionResult]::new('--base', '--base', [CompletionResultType]::ParameterName, 'The state before: a path (repeatable), `-` for standard input, or a git revision')
            [CompletionResult]::new('--fail-on', '--fail-on', [CompletionResultType]::ParameterName, 'What makes the exit code 2, instead of any change; repeatable, and one is enough: `restarts`, `errors` (new ones), `gpus>N` and `cost>N` (N more than before, in GPUs and in $/hour), `does-not-fit`, `any`')
            [CompletionResult]::new('--from-release', '--from-release', [CompletionResultType]::ParameterName, 'The release of the operator before its upgrade, as `ome=v0.1.4`: what the upgrade does to the same input')
            [CompletionResult]::new('--to-release', '--to-release', [CompletionResultType]::ParameterName, 'The release after the upgrade')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--cluster-domain', '--cluster-domain', [CompletionResultType]::ParameterName, 'The cluster''s DNS domain')
            [CompletionResult]::new('--protocol', '--protocol', [CompletionResultType]::ParameterName, 'The protocol asked for, over every service')
            [CompletionResult]::new('--feature-gates', '--feature-gates', [CompletionResultType]::ParameterName, 'Comma-separated NAME=true or NAME=false. Known gate: AcceleratorAwareScheduling (default true)')
            [CompletionResult]::new('--request-size', '--request-size', [CompletionResultType]::ParameterName, 'Size of requests in tokens (`k` = 1000), for conditions of preferences; over the annotation')
            [CompletionResult]::new('--args-order', '--args-order', [CompletionResultType]::ParameterName, 'Order of arguments: runtime, service, accelerator; accelerator, runtime, service; runtime, accelerator, service')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--builtin', '--builtin', [CompletionResultType]::ParameterName, 'When built-in runtimes and accelerator classes are used [default: auto]')
            [CompletionResult]::new('--no-builtin', '--no-builtin', [CompletionResultType]::ParameterName, 'The same as `--builtin never`')
            [CompletionResult]::new('--semantics', '--semantics', [CompletionResultType]::ParameterName, 'Whose word counts: the documents or the shipped controller')
            [CompletionResult]::new('--release', '--release', [CompletionResultType]::ParameterName, 'The release of an operator that is followed, as `ome=v0.1.4`; repeatable. One of OME means `--semantics controller`')
            [CompletionResult]::new('--kthena-profile', '--kthena-profile', [CompletionResultType]::ParameterName, 'A release of Kthena whose behaviour ModelServings follow instead of the document''s; the same as `--release kthena=TAG`')
            [CompletionResult]::new('--deployment-mode', '--deployment-mode', [CompletionResultType]::ParameterName, 'Default deployment mode for KServe InferenceServices without the annotation')
            [CompletionResult]::new('--model-configs', '--model-configs', [CompletionResultType]::ParameterName, 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory')
            [CompletionResult]::new('--hf-cache', '--hf-cache', [CompletionResultType]::ParameterName, 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]')
            [CompletionResult]::new('--model-facts', '--model-facts', [CompletionResultType]::ParameterName, 'Whether models are completed from the built-in table of published models [default: auto]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Settings file; by default `ome.toml` is searched upward from the working directory')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Threads, at most 4 per core; the output does not depend on it [default: one per core]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Show every field of every object, not only what fits on a screen')
            [CompletionResult]::new('--strict-preferred', '--strict-preferred', [CompletionResultType]::ParameterName, 'Fail if no preferred class is eligible')
            [CompletionResult]::new('--allow-unknown', '--allow-unknown', [CompletionResultType]::ParameterName, 'A preferred class passes although its capabilities are unknown')
            [CompletionResult]::new('--strict-cost', '--strict-cost', [CompletionResultType]::ParameterName, 'Fail if no class is under the cost threshold')
            [CompletionResult]::new('--dedupe-args', '--dedupe-args', [CompletionResultType]::ParameterName, 'Drop duplicate flags: the service''s value wins, otherwise the last one')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'Do not report references to objects that were not loaded')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no settings file')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Findings of level warning count as errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;drift' {
            [CompletionResult]::new('--live', '--live', [CompletionResultType]::ParameterName, 'The dump of the cluster, when services are read from elsewhere. Repeatable')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--cluster-domain', '--cluster-domain', [CompletionResultType]::ParameterName, 'The cluster''s DNS domain')
            [CompletionResult]::new('--protocol', '--protocol', [CompletionResultType]::ParameterName, 'The protocol asked for, over every service')
            [CompletionResult]::new('--feature-gates', '--feature-gates', [CompletionResultType]::ParameterName, 'Comma-separated NAME=true or NAME=false. Known gate: AcceleratorAwareScheduling (default true)')
            [CompletionResult]::new('--request-size', '--request-size', [CompletionResultType]::ParameterName, 'Size of requests in tokens (`k` = 1000), for conditions of preferences; over the annotation')
            [CompletionResult]::new('--args-order', '--args-order', [CompletionResultType]::ParameterName, 'Order of arguments: runtime, service, accelerator; accelerator, runtime, service; runtime, accelerator, service')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--builtin', '--builtin', [CompletionResultType]::ParameterName, 'When built-in runtimes and accelerator classes are used [default: auto]')
            [CompletionResult]::new('--no-builtin', '--no-builtin', [CompletionResultType]::ParameterName, 'The same as `--builtin never`')
            [CompletionResult]::new('--semantics', '--semantics', [CompletionResultType]::ParameterName, 'Whose word counts: the documents or the shipped controller')
            [CompletionResult]::new('--release', '--release', [CompletionResultType]::ParameterName, 'The release of an operator that is followed, as `ome=v0.1.4`; repeatable. One of OME means `--semantics controller`')
            [CompletionResult]::new('--kthena-profile', '--kthena-profile', [CompletionResultType]::ParameterName, 'A release of Kthena whose behaviour ModelServings follow instead of the document''s; the same as `--release kthena=TAG`')
            [CompletionResult]::new('--deployment-mode', '--deployment-mode', [CompletionResultType]::ParameterName, 'Default deployment mode for KServe InferenceServices without the annotation')
            [CompletionResult]::new('--model-configs', '--model-configs', [CompletionResultType]::ParameterName, 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory')
            [CompletionResult]::new('--hf-cache', '--hf-cache', [CompletionResultType]::ParameterName, 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]')
            [CompletionResult]::new('--model-facts', '--model-facts', [CompletionResultType]::ParameterName, 'Whether models are completed from the built-in table of published models [default: auto]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Settings file; by default `ome.toml` is searched upward from the working directory')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Threads, at most 4 per core; the output does not depend on it [default: one per core]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--strict-preferred', '--strict-preferred', [CompletionResultType]::ParameterName, 'Fail if no preferred class is eligible')
            [CompletionResult]::new('--allow-unknown', '--allow-unknown', [CompletionResultType]::ParameterName, 'A preferred class passes although its capabilities are unknown')
            [CompletionResult]::new('--strict-cost', '--strict-cost', [CompletionResultType]::ParameterName, 'Fail if no class is under the cost threshold')
            [CompletionResult]::new('--dedupe-args', '--dedupe-args', [CompletionResultType]::ParameterName, 'Drop duplicate flags: the service''s value wins, otherwise the last one')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'Do not report references to objects that were not loaded')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no settings file')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Findings of level warning count as errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;rollout' {
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'What is applied before: a path, repeatable, one after the other, or a git revision. A Pod document sets the annotations of that pod')
            [CompletionResult]::new('--base', '--base', [CompletionResultType]::ParameterName, 'What is applied before: a path, repeatable, one after the other, or a git revision. A Pod document sets the annotations of that pod')
            [CompletionResult]::new('--fail', '--fail', [CompletionResultType]::ParameterName, 'A container of this pod crashes after everything has settled; under the document''s rules a pod that the change creates does not get ready. Of an InferenceService: the containers of the component''s new pods never start. Repeatable')
            [CompletionResult]::new('--stuck', '--stuck', [CompletionResultType]::ParameterName, 'A pod of this name never gets ready once the change is applied. Of an InferenceService: the component''s new pods. Repeatable')
            [CompletionResult]::new('--slow', '--slow', [CompletionResultType]::ParameterName, 'New pods of this component of an InferenceService need so many ticks to get ready, 4 when no number is given; others need one. Repeatable')
            [CompletionResult]::new('--pending', '--pending', [CompletionResultType]::ParameterName, 'This pod is not ready before the change, and stays so until another one replaces it. Repeatable')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--protocol', '--protocol', [CompletionResultType]::ParameterName, 'The protocol asked for, over every service')
            [CompletionResult]::new('--feature-gates', '--feature-gates', [CompletionResultType]::ParameterName, 'Comma-separated NAME=true or NAME=false. Known gate: AcceleratorAwareScheduling (default true)')
            [CompletionResult]::new('--request-size', '--request-size', [CompletionResultType]::ParameterName, 'Size of requests in tokens (`k` = 1000), for conditions of preferences; over the annotation')
            [CompletionResult]::new('--args-order', '--args-order', [CompletionResultType]::ParameterName, 'Order of arguments: runtime, service, accelerator; accelerator, runtime, service; runtime, accelerator, service')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--builtin', '--builtin', [CompletionResultType]::ParameterName, 'When built-in runtimes and accelerator classes are used [default: auto]')
            [CompletionResult]::new('--no-builtin', '--no-builtin', [CompletionResultType]::ParameterName, 'The same as `--builtin never`')
            [CompletionResult]::new('--semantics', '--semantics', [CompletionResultType]::ParameterName, 'Whose word counts: the documents or the shipped controller')
            [CompletionResult]::new('--release', '--release', [CompletionResultType]::ParameterName, 'The release of an operator that is followed, as `ome=v0.1.4`; repeatable. One of OME means `--semantics controller`')
            [CompletionResult]::new('--kthena-profile', '--kthena-profile', [CompletionResultType]::ParameterName, 'A release of Kthena whose behaviour ModelServings follow instead of the document''s; the same as `--release kthena=TAG`')
            [CompletionResult]::new('--deployment-mode', '--deployment-mode', [CompletionResultType]::ParameterName, 'Default deployment mode for KServe InferenceServices without the annotation')
            [CompletionResult]::new('--model-configs', '--model-configs', [CompletionResultType]::ParameterName, 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory')
            [CompletionResult]::new('--hf-cache', '--hf-cache', [CompletionResultType]::ParameterName, 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]')
            [CompletionResult]::new('--model-facts', '--model-facts', [CompletionResultType]::ParameterName, 'Whether models are completed from the built-in table of published models [default: auto]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Settings file; by default `ome.toml` is searched upward from the working directory')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Threads, at most 4 per core; the output does not depend on it [default: one per core]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'All InferenceServices, together: those that change at once, the others as they are')
            [CompletionResult]::new('--stagger', '--stagger', [CompletionResultType]::ParameterName, 'Pods end and get ready in one group at a time, the highest ordinal first')
            [CompletionResult]::new('--steps', '--steps', [CompletionResultType]::ParameterName, 'Also print every request, in order (with `-o table`)')
            [CompletionResult]::new('--strict-preferred', '--strict-preferred', [CompletionResultType]::ParameterName, 'Fail if no preferred class is eligible')
            [CompletionResult]::new('--allow-unknown', '--allow-unknown', [CompletionResultType]::ParameterName, 'A preferred class passes although its capabilities are unknown')
            [CompletionResult]::new('--strict-cost', '--strict-cost', [CompletionResultType]::ParameterName, 'Fail if no class is under the cost threshold')
            [CompletionResult]::new('--dedupe-args', '--dedupe-args', [CompletionResultType]::ParameterName, 'Drop duplicate flags: the service''s value wins, otherwise the last one')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'Do not report references to objects that were not loaded')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no settings file')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Findings of level warning count as errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;matrix' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--builtin', '--builtin', [CompletionResultType]::ParameterName, 'When built-in runtimes and accelerator classes are used [default: auto]')
            [CompletionResult]::new('--no-builtin', '--no-builtin', [CompletionResultType]::ParameterName, 'The same as `--builtin never`')
            [CompletionResult]::new('--semantics', '--semantics', [CompletionResultType]::ParameterName, 'Whose word counts: the documents or the shipped controller')
            [CompletionResult]::new('--release', '--release', [CompletionResultType]::ParameterName, 'The release of an operator that is followed, as `ome=v0.1.4`; repeatable. One of OME means `--semantics controller`')
            [CompletionResult]::new('--kthena-profile', '--kthena-profile', [CompletionResultType]::ParameterName, 'A release of Kthena whose behaviour ModelServings follow instead of the document''s; the same as `--release kthena=TAG`')
            [CompletionResult]::new('--deployment-mode', '--deployment-mode', [CompletionResultType]::ParameterName, 'Default deployment mode for KServe InferenceServices without the annotation')
            [CompletionResult]::new('--model-configs', '--model-configs', [CompletionResultType]::ParameterName, 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory')
            [CompletionResult]::new('--hf-cache', '--hf-cache', [CompletionResultType]::ParameterName, 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]')
            [CompletionResult]::new('--model-facts', '--model-facts', [CompletionResultType]::ParameterName, 'Whether models are completed from the built-in table of published models [default: auto]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Settings file; by default `ome.toml` is searched upward from the working directory')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Threads, at most 4 per core; the output does not depend on it [default: one per core]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'Also show the longest request and how many of full length fit beside the weights, by the runtime''s own arguments. Known for models whose config.json is given: `--model-configs`, `--hf-cache`')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'Do not report references to objects that were not loaded')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no settings file')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Findings of level warning count as errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;validate' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format; `--format` is the same flag')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format; `--format` is the same flag')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format; `--format` is the same flag')
            [CompletionResult]::new('--min-severity', '--min-severity', [CompletionResultType]::ParameterName, 'Least severity that is shown [default: warning for people, info in every other format and with `--rule`]. Exit codes do not depend on it')
            [CompletionResult]::new('--rule', '--rule', [CompletionResultType]::ParameterName, 'Only findings of this code; switches on rules that are off by default. Repeatable')
            [CompletionResult]::new('--source', '--source', [CompletionResultType]::ParameterName, 'Findings on the user''s objects, or on built-in objects alone')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'File or directory that is read, so that references resolve and pairs are seen, but not reported on. Repeatable')
            [CompletionResult]::new('--baseline', '--baseline', [CompletionResultType]::ParameterName, 'Leave out the findings that this file holds')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--builtin', '--builtin', [CompletionResultType]::ParameterName, 'When built-in runtimes and accelerator classes are used [default: auto]')
            [CompletionResult]::new('--no-builtin', '--no-builtin', [CompletionResultType]::ParameterName, 'The same as `--builtin never`')
            [CompletionResult]::new('--semantics', '--semantics', [CompletionResultType]::ParameterName, 'Whose word counts: the documents or the shipped controller')
            [CompletionResult]::new('--release', '--release', [CompletionResultType]::ParameterName, 'The release of an operator that is followed, as `ome=v0.1.4`; repeatable. One of OME means `--semantics controller`')
            [CompletionResult]::new('--kthena-profile', '--kthena-profile', [CompletionResultType]::ParameterName, 'A release of Kthena whose behaviour ModelServings follow instead of the document''s; the same as `--release kthena=TAG`')
            [CompletionResult]::new('--deployment-mode', '--deployment-mode', [CompletionResultType]::ParameterName, 'Default deployment mode for KServe InferenceServices without the annotation')
            [CompletionResult]::new('--model-configs', '--model-configs', [CompletionResultType]::ParameterName, 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory')
            [CompletionResult]::new('--hf-cache', '--hf-cache', [CompletionResultType]::ParameterName, 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]')
            [CompletionResult]::new('--model-facts', '--model-facts', [CompletionResultType]::ParameterName, 'Whether models are completed from the built-in table of published models [default: auto]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Settings file; by default `ome.toml` is searched upward from the working directory')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Threads, at most 4 per core; the output does not depend on it [default: one per core]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--unused', '--unused', [CompletionResultType]::ParameterName, 'Also report runtimes that serve no loaded model')
            [CompletionResult]::new('--unknown-products', '--unknown-products', [CompletionResultType]::ParameterName, 'Also say which products of accelerator classes nothing is known about')
            [CompletionResult]::new('--update-baseline', '--update-baseline', [CompletionResultType]::ParameterName, 'Write the findings of this run into the baseline')
            [CompletionResult]::new('--fix', '--fix', [CompletionResultType]::ParameterName, 'Make the repairs that are mechanical and safe, then report what is left')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'Do not report references to objects that were not loaded')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no settings file')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Findings of level warning count as errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;test' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format; `--format` is the same flag')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format; `--format` is the same flag')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format; `--format` is the same flag')
            [CompletionResult]::new('--protocol', '--protocol', [CompletionResultType]::ParameterName, 'The protocol asked for, over every service')
            [CompletionResult]::new('--feature-gates', '--feature-gates', [CompletionResultType]::ParameterName, 'Comma-separated NAME=true or NAME=false. Known gate: AcceleratorAwareScheduling (default true)')
            [CompletionResult]::new('--request-size', '--request-size', [CompletionResultType]::ParameterName, 'Size of requests in tokens (`k` = 1000), for conditions of preferences; over the annotation')
            [CompletionResult]::new('--args-order', '--args-order', [CompletionResultType]::ParameterName, 'Order of arguments: runtime, service, accelerator; accelerator, runtime, service; runtime, accelerator, service')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--builtin', '--builtin', [CompletionResultType]::ParameterName, 'When built-in runtimes and accelerator classes are used [default: auto]')
            [CompletionResult]::new('--no-builtin', '--no-builtin', [CompletionResultType]::ParameterName, 'The same as `--builtin never`')
            [CompletionResult]::new('--semantics', '--semantics', [CompletionResultType]::ParameterName, 'Whose word counts: the documents or the shipped controller')
            [CompletionResult]::new('--release', '--release', [CompletionResultType]::ParameterName, 'The release of an operator that is followed, as `ome=v0.1.4`; repeatable. One of OME means `--semantics controller`')
            [CompletionResult]::new('--kthena-profile', '--kthena-profile', [CompletionResultType]::ParameterName, 'A release of Kthena whose behaviour ModelServings follow instead of the document''s; the same as `--release kthena=TAG`')
            [CompletionResult]::new('--deployment-mode', '--deployment-mode', [CompletionResultType]::ParameterName, 'Default deployment mode for KServe InferenceServices without the annotation')
            [CompletionResult]::new('--model-configs', '--model-configs', [CompletionResultType]::ParameterName, 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory')
            [CompletionResult]::new('--hf-cache', '--hf-cache', [CompletionResultType]::ParameterName, 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]')
            [CompletionResult]::new('--model-facts', '--model-facts', [CompletionResultType]::ParameterName, 'Whether models are completed from the built-in table of published models [default: auto]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Settings file; by default `ome.toml` is searched upward from the working directory')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Threads, at most 4 per core; the output does not depend on it [default: one per core]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Write today''s answers over the values in the files that are different')
            [CompletionResult]::new('--strict-preferred', '--strict-preferred', [CompletionResultType]::ParameterName, 'Fail if no preferred class is eligible')
            [CompletionResult]::new('--allow-unknown', '--allow-unknown', [CompletionResultType]::ParameterName, 'A preferred class passes although its capabilities are unknown')
            [CompletionResult]::new('--strict-cost', '--strict-cost', [CompletionResultType]::ParameterName, 'Fail if no class is under the cost threshold')
            [CompletionResult]::new('--dedupe-args', '--dedupe-args', [CompletionResultType]::ParameterName, 'Drop duplicate flags: the service''s value wins, otherwise the last one')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'Do not report references to objects that were not loaded')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no settings file')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Findings of level warning count as errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;discover' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, '`table`, `yaml` (classes to create and update), `json`, or `dir=PATH`: a file per new class, PATH/NAME.yaml. Classes in PATH are read, too')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, '`table`, `yaml` (classes to create and update), `json`, or `dir=PATH`: a file per new class, PATH/NAME.yaml. Classes in PATH are read, too')
            [CompletionResult]::new('--from-values', '--from-values', [CompletionResultType]::ParameterName, 'Make classes of Helm values instead: `acceleratorClasses: {VENDOR: [{model, memory, variants}]}`. Only this file is read unless `-f` names more')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--builtin', '--builtin', [CompletionResultType]::ParameterName, 'When built-in runtimes and accelerator classes are used [default: auto]')
            [CompletionResult]::new('--no-builtin', '--no-builtin', [CompletionResultType]::ParameterName, 'The same as `--builtin never`')
            [CompletionResult]::new('--semantics', '--semantics', [CompletionResultType]::ParameterName, 'Whose word counts: the documents or the shipped controller')
            [CompletionResult]::new('--release', '--release', [CompletionResultType]::ParameterName, 'The release of an operator that is followed, as `ome=v0.1.4`; repeatable. One of OME means `--semantics controller`')
            [CompletionResult]::new('--kthena-profile', '--kthena-profile', [CompletionResultType]::ParameterName, 'A release of Kthena whose behaviour ModelServings follow instead of the document''s; the same as `--release kthena=TAG`')
            [CompletionResult]::new('--deployment-mode', '--deployment-mode', [CompletionResultType]::ParameterName, 'Default deployment mode for KServe InferenceServices without the annotation')
            [CompletionResult]::new('--model-configs', '--model-configs', [CompletionResultType]::ParameterName, 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory')
            [CompletionResult]::new('--hf-cache', '--hf-cache', [CompletionResultType]::ParameterName, 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]')
            [CompletionResult]::new('--model-facts', '--model-facts', [CompletionResultType]::ParameterName, 'Whether models are completed from the built-in table of published models [default: auto]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Settings file; by default `ome.toml` is searched upward from the working directory')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Threads, at most 4 per core; the output does not depend on it [default: one per core]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--update', '--update', [CompletionResultType]::ParameterName, 'Rewrite classes on disk that follow the nodes and differ; with `-o dir=PATH`. What the class alone says stays, comments within it do not')
            [CompletionResult]::new('--measured', '--measured', [CompletionResultType]::ParameterName, 'Write memory as labels say it (`81559Mi`), not as it is sold (`80Gi`)')
            [CompletionResult]::new('--nominal-memory', '--nominal-memory', [CompletionResultType]::ParameterName, 'Compare bounds of memory in classes with sizes as sold (80Gi), not with labels (81559 MiB)')
            [CompletionResult]::new('--status', '--status', [CompletionResultType]::ParameterName, 'With `-o json`: nodes and devices of each class, all and free after the Pods that were read')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'Do not report references to objects that were not loaded')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no settings file')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Findings of level warning count as errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;catalog' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List what is loaded; filters are ANDed')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show one item: an object name, an alias such as `vllm/mistral-7b-instruct-rt`, or a file name only one has')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'ome;catalog;list' {
            [CompletionResult]::new('--kind', '--kind', [CompletionResultType]::ParameterName, 'Only this kind')
            [CompletionResult]::new('--source', '--source', [CompletionResultType]::ParameterName, 'Only what is built in, or only your own')
            [CompletionResult]::new('--api', '--api', [CompletionResultType]::ParameterName, 'Only objects of this API')
            [CompletionResult]::new('--engine', '--engine', [CompletionResultType]::ParameterName, 'Only built-in runtimes of this engine')
            [CompletionResult]::new('--protocol', '--protocol', [CompletionResultType]::ParameterName, 'Only runtimes that list this protocol')
            [CompletionResult]::new('--names', '--names', [CompletionResultType]::ParameterName, 'Names and order: object names, or the file names of the documentation')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--builtin', '--builtin', [CompletionResultType]::ParameterName, 'When built-in runtimes and accelerator classes are used [default: auto]')
            [CompletionResult]::new('--no-builtin', '--no-builtin', [CompletionResultType]::ParameterName, 'The same as `--builtin never`')
            [CompletionResult]::new('--semantics', '--semantics', [CompletionResultType]::ParameterName, 'Whose word counts: the documents or the shipped controller')
            [CompletionResult]::new('--release', '--release', [CompletionResultType]::ParameterName, 'The release of an operator that is followed, as `ome=v0.1.4`; repeatable. One of OME means `--semantics controller`')
            [CompletionResult]::new('--kthena-profile', '--kthena-profile', [CompletionResultType]::ParameterName, 'A release of Kthena whose behaviour ModelServings follow instead of the document''s; the same as `--release kthena=TAG`')
            [CompletionResult]::new('--deployment-mode', '--deployment-mode', [CompletionResultType]::ParameterName, 'Default deployment mode for KServe InferenceServices without the annotation')
            [CompletionResult]::new('--model-configs', '--model-configs', [CompletionResultType]::ParameterName, 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory')
            [CompletionResult]::new('--hf-cache', '--hf-cache', [CompletionResultType]::ParameterName, 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]')
            [CompletionResult]::new('--model-facts', '--model-facts', [CompletionResultType]::ParameterName, 'Whether models are completed from the built-in table of published models [default: auto]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Settings file; by default `ome.toml` is searched upward from the working directory')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Threads, at most 4 per core; the output does not depend on it [default: one per core]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'Do not report references to objects that were not loaded')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no settings file')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Findings of level warning count as errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;catalog;show' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--builtin', '--builtin', [CompletionResultType]::ParameterName, 'When built-in runtimes and accelerator classes are used [default: auto]')
            [CompletionResult]::new('--no-builtin', '--no-builtin', [CompletionResultType]::ParameterName, 'The same as `--builtin never`')
            [CompletionResult]::new('--semantics', '--semantics', [CompletionResultType]::ParameterName, 'Whose word counts: the documents or the shipped controller')
            [CompletionResult]::new('--release', '--release', [CompletionResultType]::ParameterName, 'The release of an operator that is followed, as `ome=v0.1.4`; repeatable. One of OME means `--semantics controller`')
            [CompletionResult]::new('--kthena-profile', '--kthena-profile', [CompletionResultType]::ParameterName, 'A release of Kthena whose behaviour ModelServings follow instead of the document''s; the same as `--release kthena=TAG`')
            [CompletionResult]::new('--deployment-mode', '--deployment-mode', [CompletionResultType]::ParameterName, 'Default deployment mode for KServe InferenceServices without the annotation')
            [CompletionResult]::new('--model-configs', '--model-configs', [CompletionResultType]::ParameterName, 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory')
            [CompletionResult]::new('--hf-cache', '--hf-cache', [CompletionResultType]::ParameterName, 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]')
            [CompletionResult]::new('--model-facts', '--model-facts', [CompletionResultType]::ParameterName, 'Whether models are completed from the built-in table of published models [default: auto]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Settings file; by default `ome.toml` is searched upward from the working directory')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Threads, at most 4 per core; the output does not depend on it [default: one per core]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'Do not report references to objects that were not loaded')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no settings file')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Findings of level warning count as errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;catalog;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List what is loaded; filters are ANDed')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show one item: an object name, an alias such as `vllm/mistral-7b-instruct-rt`, or a file name only one has')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'ome;catalog;help;list' {
            break
        }
        'ome;catalog;help;show' {
            break
        }
        'ome;catalog;help;help' {
            break
        }
        'ome;kueue' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('import', 'import', [CompletionResultType]::ParameterValue, 'Make AcceleratorClasses of ResourceFlavors')
            [CompletionResult]::new('export', 'export', [CompletionResultType]::ParameterValue, 'Make ResourceFlavors of AcceleratorClasses')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Show where the two disagree')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'ome;kueue;import' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--prefer', '--prefer', [CompletionResultType]::ParameterName, 'Who is right where a class written by hand and its flavor disagree')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--builtin', '--builtin', [CompletionResultType]::ParameterName, 'When built-in runtimes and accelerator classes are used [default: auto]')
            [CompletionResult]::new('--no-builtin', '--no-builtin', [CompletionResultType]::ParameterName, 'The same as `--builtin never`')
            [CompletionResult]::new('--semantics', '--semantics', [CompletionResultType]::ParameterName, 'Whose word counts: the documents or the shipped controller')
            [CompletionResult]::new('--release', '--release', [CompletionResultType]::ParameterName, 'The release of an operator that is followed, as `ome=v0.1.4`; repeatable. One of OME means `--semantics controller`')
            [CompletionResult]::new('--kthena-profile', '--kthena-profile', [CompletionResultType]::ParameterName, 'A release of Kthena whose behaviour ModelServings follow instead of the document''s; the same as `--release kthena=TAG`')
            [CompletionResult]::new('--deployment-mode', '--deployment-mode', [CompletionResultType]::ParameterName, 'Default deployment mode for KServe InferenceServices without the annotation')
            [CompletionResult]::new('--model-configs', '--model-configs', [CompletionResultType]::ParameterName, 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory')
            [CompletionResult]::new('--hf-cache', '--hf-cache', [CompletionResultType]::ParameterName, 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]')
            [CompletionResult]::new('--model-facts', '--model-facts', [CompletionResultType]::ParameterName, 'Whether models are completed from the built-in table of published models [default: auto]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Settings file; by default `ome.toml` is searched upward from the working directory')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Threads, at most 4 per core; the output does not depend on it [default: one per core]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'Do not report references to objects that were not loaded')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no settings file')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Findings of level warning count as errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;kueue;export' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--prefer', '--prefer', [CompletionResultType]::ParameterName, 'Who is right where a class and its flavor disagree')
            [CompletionResult]::new('--kueue-version', '--kueue-version', [CompletionResultType]::ParameterName, 'Version of new flavors')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--builtin', '--builtin', [CompletionResultType]::ParameterName, 'When built-in runtimes and accelerator classes are used [default: auto]')
            [CompletionResult]::new('--no-builtin', '--no-builtin', [CompletionResultType]::ParameterName, 'The same as `--builtin never`')
            [CompletionResult]::new('--semantics', '--semantics', [CompletionResultType]::ParameterName, 'Whose word counts: the documents or the shipped controller')
            [CompletionResult]::new('--release', '--release', [CompletionResultType]::ParameterName, 'The release of an operator that is followed, as `ome=v0.1.4`; repeatable. One of OME means `--semantics controller`')
            [CompletionResult]::new('--kthena-profile', '--kthena-profile', [CompletionResultType]::ParameterName, 'A release of Kthena whose behaviour ModelServings follow instead of the document''s; the same as `--release kthena=TAG`')
            [CompletionResult]::new('--deployment-mode', '--deployment-mode', [CompletionResultType]::ParameterName, 'Default deployment mode for KServe InferenceServices without the annotation')
            [CompletionResult]::new('--model-configs', '--model-configs', [CompletionResultType]::ParameterName, 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory')
            [CompletionResult]::new('--hf-cache', '--hf-cache', [CompletionResultType]::ParameterName, 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]')
            [CompletionResult]::new('--model-facts', '--model-facts', [CompletionResultType]::ParameterName, 'Whether models are completed from the built-in table of published models [default: auto]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Settings file; by default `ome.toml` is searched upward from the working directory')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Threads, at most 4 per core; the output does not depend on it [default: one per core]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--split', '--split', [CompletionResultType]::ParameterName, 'One flavor for each value, where a class lists several')
            [CompletionResult]::new('--no-tolerations', '--no-tolerations', [CompletionResultType]::ParameterName, 'Leave it to users to tolerate the taints of a flavor')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'Do not report references to objects that were not loaded')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no settings file')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Findings of level warning count as errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;kueue;diff' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--kueue-version', '--kueue-version', [CompletionResultType]::ParameterName, 'Version of new flavors')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--builtin', '--builtin', [CompletionResultType]::ParameterName, 'When built-in runtimes and accelerator classes are used [default: auto]')
            [CompletionResult]::new('--no-builtin', '--no-builtin', [CompletionResultType]::ParameterName, 'The same as `--builtin never`')
            [CompletionResult]::new('--semantics', '--semantics', [CompletionResultType]::ParameterName, 'Whose word counts: the documents or the shipped controller')
            [CompletionResult]::new('--release', '--release', [CompletionResultType]::ParameterName, 'The release of an operator that is followed, as `ome=v0.1.4`; repeatable. One of OME means `--semantics controller`')
            [CompletionResult]::new('--kthena-profile', '--kthena-profile', [CompletionResultType]::ParameterName, 'A release of Kthena whose behaviour ModelServings follow instead of the document''s; the same as `--release kthena=TAG`')
            [CompletionResult]::new('--deployment-mode', '--deployment-mode', [CompletionResultType]::ParameterName, 'Default deployment mode for KServe InferenceServices without the annotation')
            [CompletionResult]::new('--model-configs', '--model-configs', [CompletionResultType]::ParameterName, 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory')
            [CompletionResult]::new('--hf-cache', '--hf-cache', [CompletionResultType]::ParameterName, 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]')
            [CompletionResult]::new('--model-facts', '--model-facts', [CompletionResultType]::ParameterName, 'Whether models are completed from the built-in table of published models [default: auto]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Settings file; by default `ome.toml` is searched upward from the working directory')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Threads, at most 4 per core; the output does not depend on it [default: one per core]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--split', '--split', [CompletionResultType]::ParameterName, 'One flavor for each value, where a class lists several')
            [CompletionResult]::new('--no-tolerations', '--no-tolerations', [CompletionResultType]::ParameterName, 'Leave it to users to tolerate the taints of a flavor')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'Do not report references to objects that were not loaded')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no settings file')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Findings of level warning count as errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;kueue;help' {
            [CompletionResult]::new('import', 'import', [CompletionResultType]::ParameterValue, 'Make AcceleratorClasses of ResourceFlavors')
            [CompletionResult]::new('export', 'export', [CompletionResultType]::ParameterValue, 'Make ResourceFlavors of AcceleratorClasses')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Show where the two disagree')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'ome;kueue;help;import' {
            break
        }
        'ome;kueue;help;export' {
            break
        }
        'ome;kueue;help;diff' {
            break
        }
        'ome;kueue;help;help' {
            break
        }
        'ome;convert' {
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'Convert to something else than the current form')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--builtin', '--builtin', [CompletionResultType]::ParameterName, 'When built-in runtimes and accelerator classes are used [default: auto]')
            [CompletionResult]::new('--no-builtin', '--no-builtin', [CompletionResultType]::ParameterName, 'The same as `--builtin never`')
            [CompletionResult]::new('--semantics', '--semantics', [CompletionResultType]::ParameterName, 'Whose word counts: the documents or the shipped controller')
            [CompletionResult]::new('--release', '--release', [CompletionResultType]::ParameterName, 'The release of an operator that is followed, as `ome=v0.1.4`; repeatable. One of OME means `--semantics controller`')
            [CompletionResult]::new('--kthena-profile', '--kthena-profile', [CompletionResultType]::ParameterName, 'A release of Kthena whose behaviour ModelServings follow instead of the document''s; the same as `--release kthena=TAG`')
            [CompletionResult]::new('--deployment-mode', '--deployment-mode', [CompletionResultType]::ParameterName, 'Default deployment mode for KServe InferenceServices without the annotation')
            [CompletionResult]::new('--model-configs', '--model-configs', [CompletionResultType]::ParameterName, 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory')
            [CompletionResult]::new('--hf-cache', '--hf-cache', [CompletionResultType]::ParameterName, 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]')
            [CompletionResult]::new('--model-facts', '--model-facts', [CompletionResultType]::ParameterName, 'Whether models are completed from the built-in table of published models [default: auto]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Settings file; by default `ome.toml` is searched upward from the working directory')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Threads, at most 4 per core; the output does not depend on it [default: one per core]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'Do not report references to objects that were not loaded')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no settings file')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Findings of level warning count as errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;schema' {
            [CompletionResult]::new('--api-version', '--api-version', [CompletionResultType]::ParameterName, 'Group and version, when several groups have the kind')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, '`table`, `json-schema`, or with `--all` `dir=DIR`')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, '`table`, `json-schema`, or with `--all` `dir=DIR`')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Write the schemas of all kinds into a directory')
            [CompletionResult]::new('--kustomize-openapi', '--kustomize-openapi', [CompletionResultType]::ParameterName, 'Print OpenAPI definitions with the merge keys of lists, for the field `openapi` of a kustomization; without KIND those of all kinds')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;import' {
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Files or directories of the models, for `--all`. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'Files or directories of the models, for `--all`. Without it, the current directory')
            [CompletionResult]::new('--model-configs', '--model-configs', [CompletionResultType]::ParameterName, 'Look for `hf://…` in this directory first: ORG/NAME/config.json or ORG--NAME.json')
            [CompletionResult]::new('--hf-cache', '--hf-cache', [CompletionResultType]::ParameterName, 'Look for `hf://…` in the cache of the Hugging Face Hub first; `--all` and `--offline` do so anyway [default directory: HF_HUB_CACHE, or hub in HF_HOME]')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Seconds that one file of the Hub may take [default: 30]')
            [CompletionResult]::new('--index', '--index', [CompletionResultType]::ParameterName, 'The model.safetensors.index.json; one that stands beside the config is read by itself')
            [CompletionResult]::new('--into', '--into', [CompletionResultType]::ParameterName, 'Put the values into the BaseModel or ClusterBaseModel of this file; comments and layout stay')
            [CompletionResult]::new('--name', '--name', [CompletionResultType]::ParameterName, 'Which model, when the file holds several; the name of the printed one without `--into`')
            [CompletionResult]::new('--size', '--size', [CompletionResultType]::ParameterName, 'Parameters of the model, such as 7B, instead of counting them')
            [CompletionResult]::new('--storage-uri', '--storage-uri', [CompletionResultType]::ParameterName, 'Where the model is stored, for the printed one [default: the argument, when it is `hf://…`]')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Complete every model of the files in place whose storageUri is `hf://…`: from `--model-configs`, the cache of the Hub, then the Hub')
            [CompletionResult]::new('--offline', '--offline', [CompletionResultType]::ParameterName, 'Open no connection: `hf://…` is read from `--model-configs` and the cache of the Hub. Also with HF_HUB_OFFLINE=1')
            [CompletionResult]::new('--overwrite', '--overwrite', [CompletionResultType]::ParameterName, 'Replace values that say something else; without it they are kept and reported')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;endpoints' {
            [CompletionResult]::new('--model-version', '--model-version', [CompletionResultType]::ParameterName, 'Version of the model in paths, where the protocol has versions')
            [CompletionResult]::new('--cluster-domain', '--cluster-domain', [CompletionResultType]::ParameterName, 'DNS domain of the cluster')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--protocol', '--protocol', [CompletionResultType]::ParameterName, 'The protocol asked for, over every service')
            [CompletionResult]::new('--feature-gates', '--feature-gates', [CompletionResultType]::ParameterName, 'Comma-separated NAME=true or NAME=false. Known gate: AcceleratorAwareScheduling (default true)')
            [CompletionResult]::new('--request-size', '--request-size', [CompletionResultType]::ParameterName, 'Size of requests in tokens (`k` = 1000), for conditions of preferences; over the annotation')
            [CompletionResult]::new('--args-order', '--args-order', [CompletionResultType]::ParameterName, 'Order of arguments: runtime, service, accelerator; accelerator, runtime, service; runtime, accelerator, service')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('--kustomize', '--kustomize', [CompletionResultType]::ParameterName, 'Kustomize directory: built with `kustomize build` or `kubectl kustomize`; repeatable')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--builtin', '--builtin', [CompletionResultType]::ParameterName, 'When built-in runtimes and accelerator classes are used [default: auto]')
            [CompletionResult]::new('--no-builtin', '--no-builtin', [CompletionResultType]::ParameterName, 'The same as `--builtin never`')
            [CompletionResult]::new('--semantics', '--semantics', [CompletionResultType]::ParameterName, 'Whose word counts: the documents or the shipped controller')
            [CompletionResult]::new('--release', '--release', [CompletionResultType]::ParameterName, 'The release of an operator that is followed, as `ome=v0.1.4`; repeatable. One of OME means `--semantics controller`')
            [CompletionResult]::new('--kthena-profile', '--kthena-profile', [CompletionResultType]::ParameterName, 'A release of Kthena whose behaviour ModelServings follow instead of the document''s; the same as `--release kthena=TAG`')
            [CompletionResult]::new('--deployment-mode', '--deployment-mode', [CompletionResultType]::ParameterName, 'Default deployment mode for KServe InferenceServices without the annotation')
            [CompletionResult]::new('--model-configs', '--model-configs', [CompletionResultType]::ParameterName, 'Complete models from config.json files: ORG/NAME/config.json or ORG--NAME.json in this directory')
            [CompletionResult]::new('--hf-cache', '--hf-cache', [CompletionResultType]::ParameterName, 'Complete models from the cache of the Hugging Face Hub [default directory: HF_HUB_CACHE, or hub in HF_HOME]')
            [CompletionResult]::new('--model-facts', '--model-facts', [CompletionResultType]::ParameterName, 'Whether models are completed from the built-in table of published models [default: auto]')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Settings file; by default `ome.toml` is searched upward from the working directory')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Threads, at most 4 per core; the output does not depend on it [default: one per core]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--payload', '--payload', [CompletionResultType]::ParameterName, 'Add skeletons of requests, responses and errors')
            [CompletionResult]::new('--proto', '--proto', [CompletionResultType]::ParameterName, 'Add the messages of the gRPC service with the numbers of their fields')
            [CompletionResult]::new('--strict-preferred', '--strict-preferred', [CompletionResultType]::ParameterName, 'Fail if no preferred class is eligible')
            [CompletionResult]::new('--allow-unknown', '--allow-unknown', [CompletionResultType]::ParameterName, 'A preferred class passes although its capabilities are unknown')
            [CompletionResult]::new('--strict-cost', '--strict-cost', [CompletionResultType]::ParameterName, 'Fail if no class is under the cost threshold')
            [CompletionResult]::new('--dedupe-args', '--dedupe-args', [CompletionResultType]::ParameterName, 'Drop duplicate flags: the service''s value wins, otherwise the last one')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'Do not report references to objects that were not loaded')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no settings file')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Findings of level warning count as errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;payload' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Whether a body is what its protocol says: members, types, shapes, datatypes, ranges, raw contents')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'ome;payload;check' {
            [CompletionResult]::new('--protocol', '--protocol', [CompletionResultType]::ParameterName, 'Protocol of the body')
            [CompletionResult]::new('--kind', '--kind', [CompletionResultType]::ParameterName, 'What the body is')
            [CompletionResult]::new('--request', '--request', [CompletionResultType]::ParameterName, 'The request that an inference response answers: its id has to come back')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Findings of level warning count as errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;payload;help' {
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Whether a body is what its protocol says: members, types, shapes, datatypes, ranges, raw contents')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'ome;payload;help;check' {
            break
        }
        'ome;payload;help;help' {
            break
        }
        'ome;code' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;completions' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;man' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;version' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use color')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;help' {
            [CompletionResult]::new('plan', 'plan', [CompletionResultType]::ParameterValue, 'Show what each service becomes: model, runtime, deployment modes, replicas, GPUs')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Show every step of the selection: candidates, rules with their operands, the tie-break that decided; of a ModelServing its groups, roles and gangs')
            [CompletionResult]::new('why', 'why', [CompletionResultType]::ParameterValue, 'Show which layer wrote a field of a rendered object, and what it overrode')
            [CompletionResult]::new('render', 'render', [CompletionResultType]::ParameterValue, 'Print the manifests that the operator would create')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Show what a change of the manifests does: services that become something else, pods that restart, GPUs before and after, and the lines of the input that cause it')
            [CompletionResult]::new('drift', 'drift', [CompletionResultType]::ParameterValue, 'Show what in a cluster is not as the operator would write it now: objects that are missing, left over or changed, each field with the layer that says otherwise')
            [CompletionResult]::new('rollout', 'rollout', [CompletionResultType]::ParameterValue, 'Show what a change does to pods: in which order, with what capacity, and where it gets stuck')
            [CompletionResult]::new('matrix', 'matrix', [CompletionResultType]::ParameterValue, 'Show which runtime would serve which model on which accelerator class: winner, tie or hole')
            [CompletionResult]::new('validate', 'validate', [CompletionResultType]::ParameterValue, 'Check the input: syntax, schema, references, the catalog as a whole')
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Check expectations: which runtime, accelerator, mode and GPUs services get, and what they become')
            [CompletionResult]::new('discover', 'discover', [CompletionResultType]::ParameterValue, 'Make AcceleratorClasses of Nodes: what to create, what to update, what stays, with the evidence for each value')
            [CompletionResult]::new('catalog', 'catalog', [CompletionResultType]::ParameterValue, 'List and show runtimes, models and accelerator classes, built-in and your own')
            [CompletionResult]::new('kueue', 'kueue', [CompletionResultType]::ParameterValue, 'Keep AcceleratorClasses and Kueue''s ResourceFlavors in step')
            [CompletionResult]::new('convert', 'convert', [CompletionResultType]::ParameterValue, 'Rewrite objects in another form: deprecated fields, KServe as OME, the other shape of accelerator fields')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Show the fields of a kind, as `kubectl explain` does: types, defaults, what is required')
            [CompletionResult]::new('import', 'import', [CompletionResultType]::ParameterValue, 'Read from a model''s config.json what selection needs: format, framework, architecture, size, quantization, context')
            [CompletionResult]::new('endpoints', 'endpoints', [CompletionResultType]::ParameterValue, 'Show the URLs services answer on, per protocol: inference, health and metadata')
            [CompletionResult]::new('payload', 'payload', [CompletionResultType]::ParameterValue, 'Check requests and responses of the inference protocols V1, V2 and V2 over gRPC')
            [CompletionResult]::new('code', 'code', [CompletionResultType]::ParameterValue, 'Explain a finding, reason or error code, or list them all')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a completion script')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print the manual page')
            [CompletionResult]::new('version', 'version', [CompletionResultType]::ParameterValue, 'Print the version')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'ome;help;plan' {
            break
        }
        'ome;help;explain' {
            break
        }
        'ome;help;why' {
            break
        }
        'ome;help;render' {
            break
        }
        'ome;help;diff' {
            break
        }
        'ome;help;drift' {
            break
        }
        'ome;help;rollout' {
            break
        }
        'ome;help;matrix' {
            break
        }
        'ome;help;validate' {
            break
        }
        'ome;help;test' {
            break
        }
        'ome;help;discover' {
            break
        }
        'ome;help;catalog' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List what is loaded; filters are ANDed')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show one item: an object name, an alias such as `vllm/mistral-7b-instruct-rt`, or a file name only one has')
            break
        }
        'ome;help;catalog;list' {
            break
        }
        'ome;help;catalog;show' {
            break
        }
        'ome;help;kueue' {
            [CompletionResult]::new('import', 'import', [CompletionResultType]::ParameterValue, 'Make AcceleratorClasses of ResourceFlavors')
            [CompletionResult]::new('export', 'export', [CompletionResultType]::ParameterValue, 'Make ResourceFlavors of AcceleratorClasses')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Show where the two disagree')
            break
        }
        'ome;help;kueue;import' {
            break
        }
        'ome;help;kueue;export' {
            break
        }
        'ome;help;kueue;diff' {
            break
        }
        'ome;help;convert' {
            break
        }
        'ome;help;schema' {
            break
        }
        'ome;help;import' {
            break
        }
        'ome;help;endpoints' {
            break
        }
        'ome;help;payload' {
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Whether a body is what its protocol says: members, types, shapes, datatypes, ranges, raw contents')
            break
        }
        'ome;help;payload;check' {
            break
        }
        'ome;help;code' {
            break
        }
        'ome;help;completions' {
            break
        }
        'ome;help;man' {
            break
        }
        'ome;help;version' {
            break
        }
        'ome;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
