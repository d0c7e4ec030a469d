
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
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('plan', 'plan', [CompletionResultType]::ParameterValue, 'Show what each service becomes: model, runtime, deployment modes, replicas, GPUs')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Show every step of the selection: candidates, rules with their operands, the tie-break that decided')
            [CompletionResult]::new('why', 'why', [CompletionResultType]::ParameterValue, 'Show which layer wrote a field of a rendered object, and what it overrode')
            [CompletionResult]::new('render', 'render', [CompletionResultType]::ParameterValue, 'Print the manifests')
            [CompletionResult]::new('catalog', 'catalog', [CompletionResultType]::ParameterValue, 'Check the input: syntax, schema, references, the catalog as a whole. List and show runtimes, models and accelerator classes')
            [CompletionResult]::new('convert', 'convert', [CompletionResultType]::ParameterValue, 'Rewrite deprecated forms')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Show the fields of a kind')
            [CompletionResult]::new('code', 'code', [CompletionResultType]::ParameterValue, 'Explain a finding, reason or error code')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print a completion script')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print the manual page')
            break
        }
        'ome;plan' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Shape of the output')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Shape of the output')
            [CompletionResult]::new('--protocol', '--protocol', [CompletionResultType]::ParameterName, 'The protocol asked for, over every service')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--no-builtin', '--no-builtin', [CompletionResultType]::ParameterName, 'Leave the built-in catalog out')
            [CompletionResult]::new('--semantics', '--semantics', [CompletionResultType]::ParameterName, 'Whose word counts: the documents or the shipped controller')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Settings file; by default `ome.toml` is searched upward from the working directory')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Threads; the output does not depend on it [default: one per core]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'References to what is not loaded are no errors')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no settings file')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Findings of level warning count as errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;explain' {
            [CompletionResult]::new('--runtime', '--runtime', [CompletionResultType]::ParameterName, 'Why not this runtime, and the smallest edit that would make it win')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Shape of the output')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Shape of the output')
            [CompletionResult]::new('--protocol', '--protocol', [CompletionResultType]::ParameterName, 'The protocol asked for, over every service')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--no-builtin', '--no-builtin', [CompletionResultType]::ParameterName, 'Leave the built-in catalog out')
            [CompletionResult]::new('--semantics', '--semantics', [CompletionResultType]::ParameterName, 'Whose word counts: the documents or the shipped controller')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Settings file; by default `ome.toml` is searched upward from the working directory')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Threads; the output does not depend on it [default: one per core]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Show every candidate, not only the nearest misses')
            [CompletionResult]::new('--comparisons', '--comparisons', [CompletionResultType]::ParameterName, 'Show every comparison of every entry')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'References to what is not loaded are no errors')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no settings file')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Findings of level warning count as errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;why' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Shape of the output')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Shape of the output')
            [CompletionResult]::new('--protocol', '--protocol', [CompletionResultType]::ParameterName, 'The protocol asked for, over every service')
            [CompletionResult]::new('--cluster-domain', '--cluster-domain', [CompletionResultType]::ParameterName, 'The cluster''s DNS domain')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--no-builtin', '--no-builtin', [CompletionResultType]::ParameterName, 'Leave the built-in catalog out')
            [CompletionResult]::new('--semantics', '--semantics', [CompletionResultType]::ParameterName, 'Whose word counts: the documents or the shipped controller')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Settings file; by default `ome.toml` is searched upward from the working directory')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Threads; the output does not depend on it [default: one per core]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'References to what is not loaded are no errors')
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
            [CompletionResult]::new('--protocol', '--protocol', [CompletionResultType]::ParameterName, 'The protocol asked for, over every service')
            [CompletionResult]::new('--cluster-domain', '--cluster-domain', [CompletionResultType]::ParameterName, 'The cluster''s DNS domain')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--no-builtin', '--no-builtin', [CompletionResultType]::ParameterName, 'Leave the built-in catalog out')
            [CompletionResult]::new('--semantics', '--semantics', [CompletionResultType]::ParameterName, 'Whose word counts: the documents or the shipped controller')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Settings file; by default `ome.toml` is searched upward from the working directory')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Threads; the output does not depend on it [default: one per core]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--annotate', '--annotate', [CompletionResultType]::ParameterName, 'A comment at every leaf: who wrote it, and over whom')
            [CompletionResult]::new('--argocd-waves', '--argocd-waves', [CompletionResultType]::ParameterName, 'Annotate objects with Argo CD''s sync waves')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'References to what is not loaded are no errors')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no settings file')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Findings of level warning count as errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;catalog' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'List what is loaded; filters are ANDed')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Show one item: an object name, an alias such as `vllm/mistral-7b-instruct-rt`, or a file name only one has')
            break
        }
        'ome;catalog;list' {
            [CompletionResult]::new('--kind', '--kind', [CompletionResultType]::ParameterName, 'Only this kind')
            [CompletionResult]::new('--source', '--source', [CompletionResultType]::ParameterName, 'Only what is built in, or only your own')
            [CompletionResult]::new('--api', '--api', [CompletionResultType]::ParameterName, 'Only objects of this API')
            [CompletionResult]::new('--engine', '--engine', [CompletionResultType]::ParameterName, 'Only built-in runtimes of this engine')
            [CompletionResult]::new('--protocol', '--protocol', [CompletionResultType]::ParameterName, 'Only runtimes that list this protocol')
            [CompletionResult]::new('--names', '--names', [CompletionResultType]::ParameterName, 'Names and order: object names, or the file names of the documentation')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Shape of the output')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Shape of the output')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--no-builtin', '--no-builtin', [CompletionResultType]::ParameterName, 'Leave the built-in catalog out')
            [CompletionResult]::new('--semantics', '--semantics', [CompletionResultType]::ParameterName, 'Whose word counts: the documents or the shipped controller')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Settings file; by default `ome.toml` is searched upward from the working directory')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Threads; the output does not depend on it [default: one per core]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'References to what is not loaded are no errors')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no settings file')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Findings of level warning count as errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;catalog;show' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Shape of the output')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Shape of the output')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--no-builtin', '--no-builtin', [CompletionResultType]::ParameterName, 'Leave the built-in catalog out')
            [CompletionResult]::new('--semantics', '--semantics', [CompletionResultType]::ParameterName, 'Whose word counts: the documents or the shipped controller')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Settings file; by default `ome.toml` is searched upward from the working directory')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Threads; the output does not depend on it [default: one per core]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'References to what is not loaded are no errors')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no settings file')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Findings of level warning count as errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;convert' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Shape of the output')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Shape of the output')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('--filename', '--filename', [CompletionResultType]::ParameterName, 'File, directory (recursive) or `-` for standard input; repeatable. Without it, the current directory')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('--namespace', '--namespace', [CompletionResultType]::ParameterName, 'Namespace of documents that name none; selects the services of that namespace')
            [CompletionResult]::new('-l', '-l', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--selector', '--selector', [CompletionResultType]::ParameterName, 'Only services whose labels match the selector, as kubectl''s')
            [CompletionResult]::new('--no-builtin', '--no-builtin', [CompletionResultType]::ParameterName, 'Leave the built-in catalog out')
            [CompletionResult]::new('--semantics', '--semantics', [CompletionResultType]::ParameterName, 'Whose word counts: the documents or the shipped controller')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Settings file; by default `ome.toml` is searched upward from the working directory')
            [CompletionResult]::new('--max-file-size', '--max-file-size', [CompletionResultType]::ParameterName, 'Largest file that is read [default: 8MiB]')
            [CompletionResult]::new('--max-depth', '--max-depth', [CompletionResultType]::ParameterName, 'Deepest nesting of a document [default: 64]')
            [CompletionResult]::new('--max-nodes', '--max-nodes', [CompletionResultType]::ParameterName, 'Most nodes of a document, aliases expanded [default: 1000000]')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'Threads; the output does not depend on it [default: one per core]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--all-namespaces', '--all-namespaces', [CompletionResultType]::ParameterName, 'Services of all namespaces (the default without `-n`)')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'References to what is not loaded are no errors')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Read no settings file')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'Findings of level warning count as errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;schema' {
            [CompletionResult]::new('--api-version', '--api-version', [CompletionResultType]::ParameterName, 'Group and version, when several groups have the kind')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;code' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;completions' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'ome;man' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
