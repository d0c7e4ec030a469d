_ome() {
    local i cur prev opts cmd
    COMPREPLY=()
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        cur="$2"
    else
        cur="${COMP_WORDS[COMP_CWORD]}"
    fi
    prev="$3"
    cmd=""
    opts=""

    for i in "${COMP_WORDS[@]:0:COMP_CWORD}"
    do
        case "${cmd},${i}" in
            ",$1")
                cmd="ome"
                ;;
            ome,catalog)
                cmd="ome__subcmd__catalog"
                ;;
            ome,code)
                cmd="ome__subcmd__code"
                ;;
            ome,completions)
                cmd="ome__subcmd__completions"
                ;;
            ome,config)
                cmd="ome__subcmd__config"
                ;;
            ome,convert)
                cmd="ome__subcmd__convert"
                ;;
            ome,diff)
                cmd="ome__subcmd__diff"
                ;;
            ome,discover)
                cmd="ome__subcmd__discover"
                ;;
            ome,drain)
                cmd="ome__subcmd__drain"
                ;;
            ome,drift)
                cmd="ome__subcmd__drift"
                ;;
            ome,dump)
                cmd="ome__subcmd__dump"
                ;;
            ome,endpoints)
                cmd="ome__subcmd__endpoints"
                ;;
            ome,explain)
                cmd="ome__subcmd__explain"
                ;;
            ome,help)
                cmd="ome__subcmd__help"
                ;;
            ome,import)
                cmd="ome__subcmd__import"
                ;;
            ome,kueue)
                cmd="ome__subcmd__kueue"
                ;;
            ome,lsp)
                cmd="ome__subcmd__lsp"
                ;;
            ome,man)
                cmd="ome__subcmd__man"
                ;;
            ome,matrix)
                cmd="ome__subcmd__matrix"
                ;;
            ome,payload)
                cmd="ome__subcmd__payload"
                ;;
            ome,plan)
                cmd="ome__subcmd__plan"
                ;;
            ome,render)
                cmd="ome__subcmd__render"
                ;;
            ome,rollout)
                cmd="ome__subcmd__rollout"
                ;;
            ome,schema)
                cmd="ome__subcmd__schema"
                ;;
            ome,test)
                cmd="ome__subcmd__test"
                ;;
            ome,validate)
                cmd="ome__subcmd__validate"
                ;;
            ome,version)
                cmd="ome__subcmd__version"
                ;;
            ome,why)
                cmd="ome__subcmd__why"
                ;;
            ome__subcmd__catalog,help)
                cmd="ome__subcmd__catalog__subcmd__help"
                ;;
            ome__subcmd__catalog,list)
                cmd="ome__subcmd__catalog__subcmd__list"
                ;;
            ome__subcmd__catalog,releases)
                cmd="ome__subcmd__catalog__subcmd__releases"
                ;;
            ome__subcmd__catalog,show)
                cmd="ome__subcmd__catalog__subcmd__show"
                ;;
            ome__subcmd__catalog__subcmd__help,help)
                cmd="ome__subcmd__catalog__subcmd__help__subcmd__help"
                ;;
            ome__subcmd__catalog__subcmd__help,list)
                cmd="ome__subcmd__catalog__subcmd__help__subcmd__list"
                ;;
            ome__subcmd__catalog__subcmd__help,releases)
                cmd="ome__subcmd__catalog__subcmd__help__subcmd__releases"
                ;;
            ome__subcmd__catalog__subcmd__help,show)
                cmd="ome__subcmd__catalog__subcmd__help__subcmd__show"
                ;;
            ome__subcmd__help,catalog)
                cmd="ome__subcmd__help__subcmd__catalog"
                ;;
            ome__subcmd__help,code)
                cmd="ome__subcmd__help__subcmd__code"
                ;;
            ome__subcmd__help,completions)
                cmd="ome__subcmd__help__subcmd__completions"
                ;;
            ome__subcmd__help,config)
                cmd="ome__subcmd__help__subcmd__config"
                ;;
            ome__subcmd__help,convert)
                cmd="ome__subcmd__help__subcmd__convert"
                ;;
            ome__subcmd__help,diff)
                cmd="ome__subcmd__help__subcmd__diff"
                ;;
            ome__subcmd__help,discover)
                cmd="ome__subcmd__help__subcmd__discover"
                ;;
            ome__subcmd__help,drain)
                cmd="ome__subcmd__help__subcmd__drain"
                ;;
            ome__subcmd__help,drift)
                cmd="ome__subcmd__help__subcmd__drift"
                ;;
            ome__subcmd__help,dump)
                cmd="ome__subcmd__help__subcmd__dump"
                ;;
            ome__subcmd__help,endpoints)
                cmd="ome__subcmd__help__subcmd__endpoints"
                ;;
            ome__subcmd__help,explain)
                cmd="ome__subcmd__help__subcmd__explain"
                ;;
            ome__subcmd__help,help)
                cmd="ome__subcmd__help__subcmd__help"
                ;;
            ome__subcmd__help,import)
                cmd="ome__subcmd__help__subcmd__import"
                ;;
            ome__subcmd__help,kueue)
                cmd="ome__subcmd__help__subcmd__kueue"
                ;;
            ome__subcmd__help,lsp)
                cmd="ome__subcmd__help__subcmd__lsp"
                ;;
            ome__subcmd__help,man)
                cmd="ome__subcmd__help__subcmd__man"
                ;;
            ome__subcmd__help,matrix)
                cmd="ome__subcmd__help__subcmd__matrix"
                ;;
            ome__subcmd__help,payload)
                cmd="ome__subcmd__help__subcmd__payload"
                ;;
            ome__subcmd__help,plan)
                cmd="ome__subcmd__help__subcmd__plan"
                ;;
            ome__subcmd__help,render)
                cmd="ome__subcmd__help__subcmd__render"
                ;;
            ome__subcmd__help,rollout)
                cmd="ome__subcmd__help__subcmd__rollout"
                ;;
            ome__subcmd__help,schema)
                cmd="ome__subcmd__help__subcmd__schema"
                ;;
            ome__subcmd__help,test)
                cmd="ome__subcmd__help__subcmd__test"
                ;;
            ome__subcmd__help,validate)
                cmd="ome__subcmd__help__subcmd__validate"
                ;;
            ome__subcmd__help,version)
                cmd="ome__subcmd__help__subcmd__version"
                ;;
            ome__subcmd__help,why)
                cmd="ome__subcmd__help__subcmd__why"
                ;;
            ome__subcmd__help__subcmd__catalog,list)
                cmd="ome__subcmd__help__subcmd__catalog__subcmd__list"
                ;;
            ome__subcmd__help__subcmd__catalog,releases)
                cmd="ome__subcmd__help__subcmd__catalog__subcmd__releases"
                ;;
            ome__subcmd__help__subcmd__catalog,show)
                cmd="ome__subcmd__help__subcmd__catalog__subcmd__show"
                ;;
            ome__subcmd__help__subcmd__kueue,diff)
                cmd="ome__subcmd__help__subcmd__kueue__subcmd__diff"
                ;;
            ome__subcmd__help__subcmd__kueue,export)
                cmd="ome__subcmd__help__subcmd__kueue__subcmd__export"
                ;;
            ome__subcmd__help__subcmd__kueue,import)
                cmd="ome__subcmd__help__subcmd__kueue__subcmd__import"
                ;;
            ome__subcmd__help__subcmd__payload,check)
                cmd="ome__subcmd__help__subcmd__payload__subcmd__check"
                ;;
            ome__subcmd__kueue,diff)
                cmd="ome__subcmd__kueue__subcmd__diff"
                ;;
            ome__subcmd__kueue,export)
                cmd="ome__subcmd__kueue__subcmd__export"
                ;;
            ome__subcmd__kueue,help)
                cmd="ome__subcmd__kueue__subcmd__help"
                ;;
            ome__subcmd__kueue,import)
                cmd="ome__subcmd__kueue__subcmd__import"
                ;;
            ome__subcmd__kueue__subcmd__help,diff)
                cmd="ome__subcmd__kueue__subcmd__help__subcmd__diff"
                ;;
            ome__subcmd__kueue__subcmd__help,export)
                cmd="ome__subcmd__kueue__subcmd__help__subcmd__export"
                ;;
            ome__subcmd__kueue__subcmd__help,help)
                cmd="ome__subcmd__kueue__subcmd__help__subcmd__help"
                ;;
            ome__subcmd__kueue__subcmd__help,import)
                cmd="ome__subcmd__kueue__subcmd__help__subcmd__import"
                ;;
            ome__subcmd__payload,check)
                cmd="ome__subcmd__payload__subcmd__check"
                ;;
            ome__subcmd__payload,help)
                cmd="ome__subcmd__payload__subcmd__help"
                ;;
            ome__subcmd__payload__subcmd__help,check)
                cmd="ome__subcmd__payload__subcmd__help__subcmd__check"
                ;;
            ome__subcmd__payload__subcmd__help,help)
                cmd="ome__subcmd__payload__subcmd__help__subcmd__help"
                ;;
            *)
                ;;
        esac
    done

    case "${cmd}" in
        ome)
            opts="-v -q -h -V --color --verbose --quiet --no-pager --help --version discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 1 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__catalog)
            opts="-v -q -h --color --verbose --quiet --no-pager --help list show releases help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__catalog__subcmd__help)
            opts="list show releases help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__catalog__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__catalog__subcmd__help__subcmd__list)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__catalog__subcmd__help__subcmd__releases)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__catalog__subcmd__help__subcmd__show)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__catalog__subcmd__list)
            opts="-o -f -k -R -n -A -l -v -q -h --kind --source --api --engine --protocol --names --output --filename --presets --kustomize --kustomize-command --overlays --follow-outside --recursive --namespace --all-namespaces --selector --builtin --no-builtin --semantics --release --kthena-profile --deployment-mode --model-configs --hf-cache --model-facts --device-tolerations --partial --config --no-config --exclude --in --max-file-size --max-depth --max-nodes --max-files --jobs --strict --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --kind)
                    COMPREPLY=($(compgen -W "runtime model accelerator" -- "${cur}"))
                    return 0
                    ;;
                --source)
                    COMPREPLY=($(compgen -W "builtin user template" -- "${cur}"))
                    return 0
                    ;;
                --api)
                    COMPREPLY=($(compgen -W "ome kserve" -- "${cur}"))
                    return 0
                    ;;
                --engine)
                    COMPREPLY=($(compgen -W "sglang vllm" -- "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --names)
                    COMPREPLY=($(compgen -W "object seed" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json yaml" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json yaml" -- "${cur}"))
                    return 0
                    ;;
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --presets)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -k)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize-command)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --overlays)
                    COMPREPLY=($(compgen -W "auto never" -- "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --selector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -l)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --builtin)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --no-builtin)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --semantics)
                    COMPREPLY=($(compgen -W "documented controller" -- "${cur}"))
                    return 0
                    ;;
                --release)
                    COMPREPLY=($(compgen -W "kserve=v0.19.0 kserve=v0.20.0 kserve=head kserve=odh kthena=v0.1.0 kthena=v0.4.0 kthena=v1.0.0 kthena=head kubernetes=1.35 kubernetes=1.36 kubernetes=1.37 lws=v0.7.0 lws=v0.8.0 lws=v0.9.0 lws=v0.10.0 ome=v0.1.3 ome=v0.1.4 ome=v0.1.5 ome=17b77eda ome=v1.1.0 ome=v1.2.0 ome=v1.2.2 ome=head" -- "${cur}"))
                    return 0
                    ;;
                --kthena-profile)
                    COMPREPLY=($(compgen -W "v0.1 v1.0 head" -- "${cur}"))
                    return 0
                    ;;
                --deployment-mode)
                    COMPREPLY=($(compgen -W "RawDeployment Serverless Standard Knative" -- "${cur}"))
                    return 0
                    ;;
                --model-configs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hf-cache)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model-facts)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --device-tolerations)
                    COMPREPLY=($(compgen -W "assume never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exclude)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --max-file-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-files)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__catalog__subcmd__releases)
            opts="-o -v -q -h --output --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -W "table json yaml" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json yaml" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__catalog__subcmd__show)
            opts="-f -k -R -n -A -l -o -v -q -h --filename --presets --kustomize --kustomize-command --overlays --follow-outside --recursive --namespace --all-namespaces --selector --builtin --no-builtin --semantics --release --kthena-profile --deployment-mode --model-configs --hf-cache --model-facts --device-tolerations --partial --config --no-config --exclude --in --max-file-size --max-depth --max-nodes --max-files --jobs --strict --output --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --presets)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -k)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize-command)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --overlays)
                    COMPREPLY=($(compgen -W "auto never" -- "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --selector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -l)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --builtin)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --no-builtin)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --semantics)
                    COMPREPLY=($(compgen -W "documented controller" -- "${cur}"))
                    return 0
                    ;;
                --release)
                    COMPREPLY=($(compgen -W "kserve=v0.19.0 kserve=v0.20.0 kserve=head kserve=odh kthena=v0.1.0 kthena=v0.4.0 kthena=v1.0.0 kthena=head kubernetes=1.35 kubernetes=1.36 kubernetes=1.37 lws=v0.7.0 lws=v0.8.0 lws=v0.9.0 lws=v0.10.0 ome=v0.1.3 ome=v0.1.4 ome=v0.1.5 ome=17b77eda ome=v1.1.0 ome=v1.2.0 ome=v1.2.2 ome=head" -- "${cur}"))
                    return 0
                    ;;
                --kthena-profile)
                    COMPREPLY=($(compgen -W "v0.1 v1.0 head" -- "${cur}"))
                    return 0
                    ;;
                --deployment-mode)
                    COMPREPLY=($(compgen -W "RawDeployment Serverless Standard Knative" -- "${cur}"))
                    return 0
                    ;;
                --model-configs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hf-cache)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model-facts)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --device-tolerations)
                    COMPREPLY=($(compgen -W "assume never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exclude)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --max-file-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-files)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json yaml" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json yaml" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__code)
            opts="-v -q -h --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__completions)
            opts="-v -q -h --color --verbose --quiet --no-pager --help bash elvish fish powershell zsh"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__config)
            opts="-f -k -R -n -A -l -o -v -q -h --filename --presets --kustomize --kustomize-command --overlays --follow-outside --recursive --namespace --all-namespaces --selector --builtin --no-builtin --semantics --release --kthena-profile --deployment-mode --model-configs --hf-cache --model-facts --device-tolerations --partial --config --no-config --exclude --in --max-file-size --max-depth --max-nodes --max-files --jobs --strict --output --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --presets)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -k)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize-command)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --overlays)
                    COMPREPLY=($(compgen -W "auto never" -- "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --selector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -l)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --builtin)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --no-builtin)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --semantics)
                    COMPREPLY=($(compgen -W "documented controller" -- "${cur}"))
                    return 0
                    ;;
                --release)
                    COMPREPLY=($(compgen -W "kserve=v0.19.0 kserve=v0.20.0 kserve=head kserve=odh kthena=v0.1.0 kthena=v0.4.0 kthena=v1.0.0 kthena=head kubernetes=1.35 kubernetes=1.36 kubernetes=1.37 lws=v0.7.0 lws=v0.8.0 lws=v0.9.0 lws=v0.10.0 ome=v0.1.3 ome=v0.1.4 ome=v0.1.5 ome=17b77eda ome=v1.1.0 ome=v1.2.0 ome=v1.2.2 ome=head" -- "${cur}"))
                    return 0
                    ;;
                --kthena-profile)
                    COMPREPLY=($(compgen -W "v0.1 v1.0 head" -- "${cur}"))
                    return 0
                    ;;
                --deployment-mode)
                    COMPREPLY=($(compgen -W "RawDeployment Serverless Standard Knative" -- "${cur}"))
                    return 0
                    ;;
                --model-configs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hf-cache)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model-facts)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --device-tolerations)
                    COMPREPLY=($(compgen -W "assume never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exclude)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --max-file-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-files)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json yaml" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json yaml" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__convert)
            opts="-f -k -R -n -A -l -o -v -q -h --filename --presets --kustomize --kustomize-command --overlays --follow-outside --recursive --namespace --all-namespaces --selector --builtin --no-builtin --semantics --release --kthena-profile --deployment-mode --model-configs --hf-cache --model-facts --device-tolerations --partial --config --no-config --exclude --in --max-file-size --max-depth --max-nodes --max-files --jobs --strict --to --output --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --presets)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -k)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize-command)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --overlays)
                    COMPREPLY=($(compgen -W "auto never" -- "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --selector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -l)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --builtin)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --no-builtin)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --semantics)
                    COMPREPLY=($(compgen -W "documented controller" -- "${cur}"))
                    return 0
                    ;;
                --release)
                    COMPREPLY=($(compgen -W "kserve=v0.19.0 kserve=v0.20.0 kserve=head kserve=odh kthena=v0.1.0 kthena=v0.4.0 kthena=v1.0.0 kthena=head kubernetes=1.35 kubernetes=1.36 kubernetes=1.37 lws=v0.7.0 lws=v0.8.0 lws=v0.9.0 lws=v0.10.0 ome=v0.1.3 ome=v0.1.4 ome=v0.1.5 ome=17b77eda ome=v1.1.0 ome=v1.2.0 ome=v1.2.2 ome=head" -- "${cur}"))
                    return 0
                    ;;
                --kthena-profile)
                    COMPREPLY=($(compgen -W "v0.1 v1.0 head" -- "${cur}"))
                    return 0
                    ;;
                --deployment-mode)
                    COMPREPLY=($(compgen -W "RawDeployment Serverless Standard Knative" -- "${cur}"))
                    return 0
                    ;;
                --model-configs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hf-cache)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model-facts)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --device-tolerations)
                    COMPREPLY=($(compgen -W "assume never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exclude)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --max-file-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-files)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --to)
                    COMPREPLY=($(compgen -W "ome shipped oep previous" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "yaml json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "yaml json" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__diff)
            opts="-f -k -R -n -A -l -o -v -q -h --filename --presets --kustomize --kustomize-command --overlays --follow-outside --recursive --namespace --all-namespaces --selector --builtin --no-builtin --semantics --release --kthena-profile --deployment-mode --model-configs --hf-cache --model-facts --device-tolerations --partial --config --no-config --exclude --in --max-file-size --max-depth --max-nodes --max-files --jobs --strict --base --fail-on --from-release --to-release --own-catalog --at --output --all --cluster-domain --watch --protocol --feature-gates --strict-preferred --allow-unknown --request-size --strict-cost --args-order --dedupe-args --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --presets)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -k)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize-command)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --overlays)
                    COMPREPLY=($(compgen -W "auto never" -- "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --selector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -l)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --builtin)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --no-builtin)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --semantics)
                    COMPREPLY=($(compgen -W "documented controller" -- "${cur}"))
                    return 0
                    ;;
                --release)
                    COMPREPLY=($(compgen -W "kserve=v0.19.0 kserve=v0.20.0 kserve=head kserve=odh kthena=v0.1.0 kthena=v0.4.0 kthena=v1.0.0 kthena=head kubernetes=1.35 kubernetes=1.36 kubernetes=1.37 lws=v0.7.0 lws=v0.8.0 lws=v0.9.0 lws=v0.10.0 ome=v0.1.3 ome=v0.1.4 ome=v0.1.5 ome=17b77eda ome=v1.1.0 ome=v1.2.0 ome=v1.2.2 ome=head" -- "${cur}"))
                    return 0
                    ;;
                --kthena-profile)
                    COMPREPLY=($(compgen -W "v0.1 v1.0 head" -- "${cur}"))
                    return 0
                    ;;
                --deployment-mode)
                    COMPREPLY=($(compgen -W "RawDeployment Serverless Standard Knative" -- "${cur}"))
                    return 0
                    ;;
                --model-configs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hf-cache)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model-facts)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --device-tolerations)
                    COMPREPLY=($(compgen -W "assume never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exclude)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --max-file-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-files)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --base)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fail-on)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --from-release)
                    COMPREPLY=($(compgen -W "kserve=v0.19.0 kserve=v0.20.0 kserve=head kserve=odh kthena=v0.1.0 kthena=v0.4.0 kthena=v1.0.0 kthena=head kubernetes=1.35 kubernetes=1.36 kubernetes=1.37 lws=v0.7.0 lws=v0.8.0 lws=v0.9.0 lws=v0.10.0 ome=v0.1.3 ome=v0.1.4 ome=v0.1.5 ome=17b77eda ome=v1.1.0 ome=v1.2.0 ome=v1.2.2 ome=head" -- "${cur}"))
                    return 0
                    ;;
                --to-release)
                    COMPREPLY=($(compgen -W "kserve=v0.19.0 kserve=v0.20.0 kserve=head kserve=odh kthena=v0.1.0 kthena=v0.4.0 kthena=v1.0.0 kthena=head kubernetes=1.35 kubernetes=1.36 kubernetes=1.37 lws=v0.7.0 lws=v0.8.0 lws=v0.9.0 lws=v0.10.0 ome=v0.1.3 ome=v0.1.4 ome=v0.1.5 ome=17b77eda ome=v1.1.0 ome=v1.2.0 ome=v1.2.2 ome=head" -- "${cur}"))
                    return 0
                    ;;
                --at)
                    COMPREPLY=($(compgen -W "min max current" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json yaml markdown html" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json yaml markdown html" -- "${cur}"))
                    return 0
                    ;;
                --cluster-domain)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --feature-gates)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --request-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --args-order)
                    COMPREPLY=($(compgen -W "default accelerator-first hierarchy" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__discover)
            opts="-f -k -R -n -A -l -o -v -q -h --filename --presets --kustomize --kustomize-command --overlays --follow-outside --recursive --namespace --all-namespaces --selector --builtin --no-builtin --semantics --release --kthena-profile --deployment-mode --model-configs --hf-cache --model-facts --device-tolerations --partial --config --no-config --exclude --in --max-file-size --max-depth --max-nodes --max-files --jobs --strict --output --update --measured --nominal-memory --status --from-values --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --presets)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -k)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize-command)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --overlays)
                    COMPREPLY=($(compgen -W "auto never" -- "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --selector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -l)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --builtin)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --no-builtin)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --semantics)
                    COMPREPLY=($(compgen -W "documented controller" -- "${cur}"))
                    return 0
                    ;;
                --release)
                    COMPREPLY=($(compgen -W "kserve=v0.19.0 kserve=v0.20.0 kserve=head kserve=odh kthena=v0.1.0 kthena=v0.4.0 kthena=v1.0.0 kthena=head kubernetes=1.35 kubernetes=1.36 kubernetes=1.37 lws=v0.7.0 lws=v0.8.0 lws=v0.9.0 lws=v0.10.0 ome=v0.1.3 ome=v0.1.4 ome=v0.1.5 ome=17b77eda ome=v1.1.0 ome=v1.2.0 ome=v1.2.2 ome=head" -- "${cur}"))
                    return 0
                    ;;
                --kthena-profile)
                    COMPREPLY=($(compgen -W "v0.1 v1.0 head" -- "${cur}"))
                    return 0
                    ;;
                --deployment-mode)
                    COMPREPLY=($(compgen -W "RawDeployment Serverless Standard Knative" -- "${cur}"))
                    return 0
                    ;;
                --model-configs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hf-cache)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model-facts)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --device-tolerations)
                    COMPREPLY=($(compgen -W "assume never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exclude)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --max-file-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-files)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --from-values)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__drain)
            opts="-f -k -R -n -A -l -o -v -q -h --filename --presets --kustomize --kustomize-command --overlays --follow-outside --recursive --namespace --all-namespaces --selector --builtin --no-builtin --semantics --release --kthena-profile --deployment-mode --model-configs --hf-cache --model-facts --device-tolerations --partial --config --no-config --exclude --in --max-file-size --max-depth --max-nodes --max-files --jobs --strict --nodes --max --class --at --output --protocol --feature-gates --strict-preferred --allow-unknown --request-size --strict-cost --args-order --dedupe-args --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --presets)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -k)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize-command)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --overlays)
                    COMPREPLY=($(compgen -W "auto never" -- "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --selector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -l)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --builtin)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --no-builtin)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --semantics)
                    COMPREPLY=($(compgen -W "documented controller" -- "${cur}"))
                    return 0
                    ;;
                --release)
                    COMPREPLY=($(compgen -W "kserve=v0.19.0 kserve=v0.20.0 kserve=head kserve=odh kthena=v0.1.0 kthena=v0.4.0 kthena=v1.0.0 kthena=head kubernetes=1.35 kubernetes=1.36 kubernetes=1.37 lws=v0.7.0 lws=v0.8.0 lws=v0.9.0 lws=v0.10.0 ome=v0.1.3 ome=v0.1.4 ome=v0.1.5 ome=17b77eda ome=v1.1.0 ome=v1.2.0 ome=v1.2.2 ome=head" -- "${cur}"))
                    return 0
                    ;;
                --kthena-profile)
                    COMPREPLY=($(compgen -W "v0.1 v1.0 head" -- "${cur}"))
                    return 0
                    ;;
                --deployment-mode)
                    COMPREPLY=($(compgen -W "RawDeployment Serverless Standard Knative" -- "${cur}"))
                    return 0
                    ;;
                --model-configs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hf-cache)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model-facts)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --device-tolerations)
                    COMPREPLY=($(compgen -W "assume never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exclude)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --max-file-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-files)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --class)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --at)
                    COMPREPLY=($(compgen -W "min max current" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json yaml markdown html" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json yaml markdown html" -- "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --feature-gates)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --request-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --args-order)
                    COMPREPLY=($(compgen -W "default accelerator-first hierarchy" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__drift)
            opts="-f -k -R -n -A -l -o -v -q -h --filename --presets --kustomize --kustomize-command --overlays --follow-outside --recursive --namespace --all-namespaces --selector --builtin --no-builtin --semantics --release --kthena-profile --deployment-mode --model-configs --hf-cache --model-facts --device-tolerations --partial --config --no-config --exclude --in --max-file-size --max-depth --max-nodes --max-files --jobs --strict --live --output --cluster-domain --protocol --feature-gates --strict-preferred --allow-unknown --request-size --strict-cost --args-order --dedupe-args --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --presets)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -k)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize-command)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --overlays)
                    COMPREPLY=($(compgen -W "auto never" -- "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --selector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -l)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --builtin)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --no-builtin)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --semantics)
                    COMPREPLY=($(compgen -W "documented controller" -- "${cur}"))
                    return 0
                    ;;
                --release)
                    COMPREPLY=($(compgen -W "kserve=v0.19.0 kserve=v0.20.0 kserve=head kserve=odh kthena=v0.1.0 kthena=v0.4.0 kthena=v1.0.0 kthena=head kubernetes=1.35 kubernetes=1.36 kubernetes=1.37 lws=v0.7.0 lws=v0.8.0 lws=v0.9.0 lws=v0.10.0 ome=v0.1.3 ome=v0.1.4 ome=v0.1.5 ome=17b77eda ome=v1.1.0 ome=v1.2.0 ome=v1.2.2 ome=head" -- "${cur}"))
                    return 0
                    ;;
                --kthena-profile)
                    COMPREPLY=($(compgen -W "v0.1 v1.0 head" -- "${cur}"))
                    return 0
                    ;;
                --deployment-mode)
                    COMPREPLY=($(compgen -W "RawDeployment Serverless Standard Knative" -- "${cur}"))
                    return 0
                    ;;
                --model-configs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hf-cache)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model-facts)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --device-tolerations)
                    COMPREPLY=($(compgen -W "assume never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exclude)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --max-file-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-files)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --live)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json yaml markdown html" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json yaml markdown html" -- "${cur}"))
                    return 0
                    ;;
                --cluster-domain)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --feature-gates)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --request-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --args-order)
                    COMPREPLY=($(compgen -W "default accelerator-first hierarchy" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__dump)
            opts="-v -q -h --print-command --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__endpoints)
            opts="-f -k -R -n -A -l -o -v -q -h --filename --presets --kustomize --kustomize-command --overlays --follow-outside --recursive --namespace --all-namespaces --selector --builtin --no-builtin --semantics --release --kthena-profile --deployment-mode --model-configs --hf-cache --model-facts --device-tolerations --partial --config --no-config --exclude --in --max-file-size --max-depth --max-nodes --max-files --jobs --strict --payload --proto --model-version --cluster-domain --output --protocol --feature-gates --strict-preferred --allow-unknown --request-size --strict-cost --args-order --dedupe-args --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --presets)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -k)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize-command)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --overlays)
                    COMPREPLY=($(compgen -W "auto never" -- "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --selector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -l)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --builtin)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --no-builtin)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --semantics)
                    COMPREPLY=($(compgen -W "documented controller" -- "${cur}"))
                    return 0
                    ;;
                --release)
                    COMPREPLY=($(compgen -W "kserve=v0.19.0 kserve=v0.20.0 kserve=head kserve=odh kthena=v0.1.0 kthena=v0.4.0 kthena=v1.0.0 kthena=head kubernetes=1.35 kubernetes=1.36 kubernetes=1.37 lws=v0.7.0 lws=v0.8.0 lws=v0.9.0 lws=v0.10.0 ome=v0.1.3 ome=v0.1.4 ome=v0.1.5 ome=17b77eda ome=v1.1.0 ome=v1.2.0 ome=v1.2.2 ome=head" -- "${cur}"))
                    return 0
                    ;;
                --kthena-profile)
                    COMPREPLY=($(compgen -W "v0.1 v1.0 head" -- "${cur}"))
                    return 0
                    ;;
                --deployment-mode)
                    COMPREPLY=($(compgen -W "RawDeployment Serverless Standard Knative" -- "${cur}"))
                    return 0
                    ;;
                --model-configs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hf-cache)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model-facts)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --device-tolerations)
                    COMPREPLY=($(compgen -W "assume never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exclude)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --max-file-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-files)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model-version)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cluster-domain)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json yaml" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json yaml" -- "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --feature-gates)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --request-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --args-order)
                    COMPREPLY=($(compgen -W "default accelerator-first hierarchy" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__explain)
            opts="-f -k -R -n -A -l -o -v -q -h --filename --presets --kustomize --kustomize-command --overlays --follow-outside --recursive --namespace --all-namespaces --selector --builtin --no-builtin --semantics --release --kthena-profile --deployment-mode --model-configs --hf-cache --model-facts --device-tolerations --partial --config --no-config --exclude --in --max-file-size --max-depth --max-nodes --max-files --jobs --strict --runtime --all --comparisons --merge --output --watch --protocol --feature-gates --strict-preferred --allow-unknown --request-size --strict-cost --args-order --dedupe-args --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --presets)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -k)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize-command)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --overlays)
                    COMPREPLY=($(compgen -W "auto never" -- "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --selector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -l)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --builtin)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --no-builtin)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --semantics)
                    COMPREPLY=($(compgen -W "documented controller" -- "${cur}"))
                    return 0
                    ;;
                --release)
                    COMPREPLY=($(compgen -W "kserve=v0.19.0 kserve=v0.20.0 kserve=head kserve=odh kthena=v0.1.0 kthena=v0.4.0 kthena=v1.0.0 kthena=head kubernetes=1.35 kubernetes=1.36 kubernetes=1.37 lws=v0.7.0 lws=v0.8.0 lws=v0.9.0 lws=v0.10.0 ome=v0.1.3 ome=v0.1.4 ome=v0.1.5 ome=17b77eda ome=v1.1.0 ome=v1.2.0 ome=v1.2.2 ome=head" -- "${cur}"))
                    return 0
                    ;;
                --kthena-profile)
                    COMPREPLY=($(compgen -W "v0.1 v1.0 head" -- "${cur}"))
                    return 0
                    ;;
                --deployment-mode)
                    COMPREPLY=($(compgen -W "RawDeployment Serverless Standard Knative" -- "${cur}"))
                    return 0
                    ;;
                --model-configs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hf-cache)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model-facts)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --device-tolerations)
                    COMPREPLY=($(compgen -W "assume never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exclude)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --max-file-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-files)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --runtime)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table wide name json yaml markdown html mermaid" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table wide name json yaml markdown html mermaid" -- "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --feature-gates)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --request-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --args-order)
                    COMPREPLY=($(compgen -W "default accelerator-first hierarchy" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help)
            opts="discover import plan explain why render diff drain drift rollout matrix validate catalog test kueue payload man version convert schema lsp endpoints dump code config completions help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__catalog)
            opts="list show releases"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__catalog__subcmd__list)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__catalog__subcmd__releases)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__catalog__subcmd__show)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__code)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__completions)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__config)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__convert)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__diff)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__discover)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__drain)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__drift)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__dump)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__endpoints)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__explain)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__import)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__kueue)
            opts="import export diff"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__kueue__subcmd__diff)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__kueue__subcmd__export)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__kueue__subcmd__import)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__lsp)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__man)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__matrix)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__payload)
            opts="check"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__payload__subcmd__check)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__plan)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__render)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__rollout)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__schema)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__test)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__validate)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__version)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__help__subcmd__why)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__import)
            opts="-f -o -v -q -h --all --filename --offline --model-configs --hf-cache --timeout --index --into --name --overwrite --size --storage-uri --output --max-file-size --max-depth --max-nodes --max-files --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model-configs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hf-cache)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --index)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --into)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --storage-uri)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "yaml json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "yaml json" -- "${cur}"))
                    return 0
                    ;;
                --max-file-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-files)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__kueue)
            opts="-v -q -h --color --verbose --quiet --no-pager --help import export diff help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__kueue__subcmd__diff)
            opts="-f -k -R -n -A -l -o -v -q -h --filename --presets --kustomize --kustomize-command --overlays --follow-outside --recursive --namespace --all-namespaces --selector --builtin --no-builtin --semantics --release --kthena-profile --deployment-mode --model-configs --hf-cache --model-facts --device-tolerations --partial --config --no-config --exclude --in --max-file-size --max-depth --max-nodes --max-files --jobs --strict --output --split --no-tolerations --kueue-version --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --presets)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -k)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize-command)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --overlays)
                    COMPREPLY=($(compgen -W "auto never" -- "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --selector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -l)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --builtin)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --no-builtin)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --semantics)
                    COMPREPLY=($(compgen -W "documented controller" -- "${cur}"))
                    return 0
                    ;;
                --release)
                    COMPREPLY=($(compgen -W "kserve=v0.19.0 kserve=v0.20.0 kserve=head kserve=odh kthena=v0.1.0 kthena=v0.4.0 kthena=v1.0.0 kthena=head kubernetes=1.35 kubernetes=1.36 kubernetes=1.37 lws=v0.7.0 lws=v0.8.0 lws=v0.9.0 lws=v0.10.0 ome=v0.1.3 ome=v0.1.4 ome=v0.1.5 ome=17b77eda ome=v1.1.0 ome=v1.2.0 ome=v1.2.2 ome=head" -- "${cur}"))
                    return 0
                    ;;
                --kthena-profile)
                    COMPREPLY=($(compgen -W "v0.1 v1.0 head" -- "${cur}"))
                    return 0
                    ;;
                --deployment-mode)
                    COMPREPLY=($(compgen -W "RawDeployment Serverless Standard Knative" -- "${cur}"))
                    return 0
                    ;;
                --model-configs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hf-cache)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model-facts)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --device-tolerations)
                    COMPREPLY=($(compgen -W "assume never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exclude)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --max-file-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-files)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table yaml json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table yaml json" -- "${cur}"))
                    return 0
                    ;;
                --kueue-version)
                    COMPREPLY=($(compgen -W "v1beta1 v1beta2" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__kueue__subcmd__export)
            opts="-f -k -R -n -A -l -o -v -q -h --filename --presets --kustomize --kustomize-command --overlays --follow-outside --recursive --namespace --all-namespaces --selector --builtin --no-builtin --semantics --release --kthena-profile --deployment-mode --model-configs --hf-cache --model-facts --device-tolerations --partial --config --no-config --exclude --in --max-file-size --max-depth --max-nodes --max-files --jobs --strict --output --prefer --split --no-tolerations --kueue-version --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --presets)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -k)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize-command)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --overlays)
                    COMPREPLY=($(compgen -W "auto never" -- "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --selector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -l)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --builtin)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --no-builtin)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --semantics)
                    COMPREPLY=($(compgen -W "documented controller" -- "${cur}"))
                    return 0
                    ;;
                --release)
                    COMPREPLY=($(compgen -W "kserve=v0.19.0 kserve=v0.20.0 kserve=head kserve=odh kthena=v0.1.0 kthena=v0.4.0 kthena=v1.0.0 kthena=head kubernetes=1.35 kubernetes=1.36 kubernetes=1.37 lws=v0.7.0 lws=v0.8.0 lws=v0.9.0 lws=v0.10.0 ome=v0.1.3 ome=v0.1.4 ome=v0.1.5 ome=17b77eda ome=v1.1.0 ome=v1.2.0 ome=v1.2.2 ome=head" -- "${cur}"))
                    return 0
                    ;;
                --kthena-profile)
                    COMPREPLY=($(compgen -W "v0.1 v1.0 head" -- "${cur}"))
                    return 0
                    ;;
                --deployment-mode)
                    COMPREPLY=($(compgen -W "RawDeployment Serverless Standard Knative" -- "${cur}"))
                    return 0
                    ;;
                --model-configs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hf-cache)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model-facts)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --device-tolerations)
                    COMPREPLY=($(compgen -W "assume never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exclude)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --max-file-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-files)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table yaml json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table yaml json" -- "${cur}"))
                    return 0
                    ;;
                --prefer)
                    COMPREPLY=($(compgen -W "flavor class" -- "${cur}"))
                    return 0
                    ;;
                --kueue-version)
                    COMPREPLY=($(compgen -W "v1beta1 v1beta2" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__kueue__subcmd__help)
            opts="import export diff help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__kueue__subcmd__help__subcmd__diff)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__kueue__subcmd__help__subcmd__export)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__kueue__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__kueue__subcmd__help__subcmd__import)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__kueue__subcmd__import)
            opts="-o -f -k -R -n -A -l -v -q -h --output --prefer --filename --presets --kustomize --kustomize-command --overlays --follow-outside --recursive --namespace --all-namespaces --selector --builtin --no-builtin --semantics --release --kthena-profile --deployment-mode --model-configs --hf-cache --model-facts --device-tolerations --partial --config --no-config --exclude --in --max-file-size --max-depth --max-nodes --max-files --jobs --strict --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -W "table yaml json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table yaml json" -- "${cur}"))
                    return 0
                    ;;
                --prefer)
                    COMPREPLY=($(compgen -W "flavor class" -- "${cur}"))
                    return 0
                    ;;
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --presets)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -k)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize-command)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --overlays)
                    COMPREPLY=($(compgen -W "auto never" -- "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --selector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -l)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --builtin)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --no-builtin)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --semantics)
                    COMPREPLY=($(compgen -W "documented controller" -- "${cur}"))
                    return 0
                    ;;
                --release)
                    COMPREPLY=($(compgen -W "kserve=v0.19.0 kserve=v0.20.0 kserve=head kserve=odh kthena=v0.1.0 kthena=v0.4.0 kthena=v1.0.0 kthena=head kubernetes=1.35 kubernetes=1.36 kubernetes=1.37 lws=v0.7.0 lws=v0.8.0 lws=v0.9.0 lws=v0.10.0 ome=v0.1.3 ome=v0.1.4 ome=v0.1.5 ome=17b77eda ome=v1.1.0 ome=v1.2.0 ome=v1.2.2 ome=head" -- "${cur}"))
                    return 0
                    ;;
                --kthena-profile)
                    COMPREPLY=($(compgen -W "v0.1 v1.0 head" -- "${cur}"))
                    return 0
                    ;;
                --deployment-mode)
                    COMPREPLY=($(compgen -W "RawDeployment Serverless Standard Knative" -- "${cur}"))
                    return 0
                    ;;
                --model-configs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hf-cache)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model-facts)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --device-tolerations)
                    COMPREPLY=($(compgen -W "assume never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exclude)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --max-file-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-files)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__lsp)
            opts="-f -k -R -n -A -l -v -q -h --filename --presets --kustomize --kustomize-command --overlays --follow-outside --recursive --namespace --all-namespaces --selector --builtin --no-builtin --semantics --release --kthena-profile --deployment-mode --model-configs --hf-cache --model-facts --device-tolerations --partial --config --no-config --exclude --in --max-file-size --max-depth --max-nodes --max-files --jobs --strict --stdio --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --presets)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -k)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize-command)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --overlays)
                    COMPREPLY=($(compgen -W "auto never" -- "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --selector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -l)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --builtin)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --no-builtin)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --semantics)
                    COMPREPLY=($(compgen -W "documented controller" -- "${cur}"))
                    return 0
                    ;;
                --release)
                    COMPREPLY=($(compgen -W "kserve=v0.19.0 kserve=v0.20.0 kserve=head kserve=odh kthena=v0.1.0 kthena=v0.4.0 kthena=v1.0.0 kthena=head kubernetes=1.35 kubernetes=1.36 kubernetes=1.37 lws=v0.7.0 lws=v0.8.0 lws=v0.9.0 lws=v0.10.0 ome=v0.1.3 ome=v0.1.4 ome=v0.1.5 ome=17b77eda ome=v1.1.0 ome=v1.2.0 ome=v1.2.2 ome=head" -- "${cur}"))
                    return 0
                    ;;
                --kthena-profile)
                    COMPREPLY=($(compgen -W "v0.1 v1.0 head" -- "${cur}"))
                    return 0
                    ;;
                --deployment-mode)
                    COMPREPLY=($(compgen -W "RawDeployment Serverless Standard Knative" -- "${cur}"))
                    return 0
                    ;;
                --model-configs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hf-cache)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model-facts)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --device-tolerations)
                    COMPREPLY=($(compgen -W "assume never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exclude)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --max-file-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-files)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__man)
            opts="-v -q -h --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__matrix)
            opts="-f -k -R -n -A -l -o -v -q -h --filename --presets --kustomize --kustomize-command --overlays --follow-outside --recursive --namespace --all-namespaces --selector --builtin --no-builtin --semantics --release --kthena-profile --deployment-mode --model-configs --hf-cache --model-facts --device-tolerations --partial --config --no-config --exclude --in --max-file-size --max-depth --max-nodes --max-files --jobs --strict --context --output --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --presets)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -k)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize-command)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --overlays)
                    COMPREPLY=($(compgen -W "auto never" -- "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --selector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -l)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --builtin)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --no-builtin)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --semantics)
                    COMPREPLY=($(compgen -W "documented controller" -- "${cur}"))
                    return 0
                    ;;
                --release)
                    COMPREPLY=($(compgen -W "kserve=v0.19.0 kserve=v0.20.0 kserve=head kserve=odh kthena=v0.1.0 kthena=v0.4.0 kthena=v1.0.0 kthena=head kubernetes=1.35 kubernetes=1.36 kubernetes=1.37 lws=v0.7.0 lws=v0.8.0 lws=v0.9.0 lws=v0.10.0 ome=v0.1.3 ome=v0.1.4 ome=v0.1.5 ome=17b77eda ome=v1.1.0 ome=v1.2.0 ome=v1.2.2 ome=head" -- "${cur}"))
                    return 0
                    ;;
                --kthena-profile)
                    COMPREPLY=($(compgen -W "v0.1 v1.0 head" -- "${cur}"))
                    return 0
                    ;;
                --deployment-mode)
                    COMPREPLY=($(compgen -W "RawDeployment Serverless Standard Knative" -- "${cur}"))
                    return 0
                    ;;
                --model-configs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hf-cache)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model-facts)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --device-tolerations)
                    COMPREPLY=($(compgen -W "assume never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exclude)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --max-file-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-files)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json yaml markdown html" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json yaml markdown html" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__payload)
            opts="-v -q -h --color --verbose --quiet --no-pager --help check help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__payload__subcmd__check)
            opts="-o -v -q -h --protocol --kind --request --output --strict --max-file-size --max-depth --max-nodes --max-files --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --protocol)
                    COMPREPLY=($(compgen -W "v1 v2 grpc-v2" -- "${cur}"))
                    return 0
                    ;;
                --kind)
                    COMPREPLY=($(compgen -W "predict-request infer-request infer-response model-metadata error" -- "${cur}"))
                    return 0
                    ;;
                --request)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "human json" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "human json" -- "${cur}"))
                    return 0
                    ;;
                --max-file-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-files)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__payload__subcmd__help)
            opts="check help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__payload__subcmd__help__subcmd__check)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__payload__subcmd__help__subcmd__help)
            opts=""
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__plan)
            opts="-f -k -R -n -A -l -o -v -q -h --filename --presets --kustomize --kustomize-command --overlays --follow-outside --recursive --namespace --all-namespaces --selector --builtin --no-builtin --semantics --release --kthena-profile --deployment-mode --model-configs --hf-cache --model-facts --device-tolerations --partial --config --no-config --exclude --in --max-file-size --max-depth --max-nodes --max-files --jobs --strict --output --all --at --without --each --watch --protocol --feature-gates --strict-preferred --allow-unknown --request-size --strict-cost --args-order --dedupe-args --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --presets)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -k)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize-command)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --overlays)
                    COMPREPLY=($(compgen -W "auto never" -- "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --selector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -l)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --builtin)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --no-builtin)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --semantics)
                    COMPREPLY=($(compgen -W "documented controller" -- "${cur}"))
                    return 0
                    ;;
                --release)
                    COMPREPLY=($(compgen -W "kserve=v0.19.0 kserve=v0.20.0 kserve=head kserve=odh kthena=v0.1.0 kthena=v0.4.0 kthena=v1.0.0 kthena=head kubernetes=1.35 kubernetes=1.36 kubernetes=1.37 lws=v0.7.0 lws=v0.8.0 lws=v0.9.0 lws=v0.10.0 ome=v0.1.3 ome=v0.1.4 ome=v0.1.5 ome=17b77eda ome=v1.1.0 ome=v1.2.0 ome=v1.2.2 ome=head" -- "${cur}"))
                    return 0
                    ;;
                --kthena-profile)
                    COMPREPLY=($(compgen -W "v0.1 v1.0 head" -- "${cur}"))
                    return 0
                    ;;
                --deployment-mode)
                    COMPREPLY=($(compgen -W "RawDeployment Serverless Standard Knative" -- "${cur}"))
                    return 0
                    ;;
                --model-configs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hf-cache)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model-facts)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --device-tolerations)
                    COMPREPLY=($(compgen -W "assume never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exclude)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --max-file-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-files)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table wide name json yaml markdown html" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table wide name json yaml markdown html" -- "${cur}"))
                    return 0
                    ;;
                --at)
                    COMPREPLY=($(compgen -W "min max current" -- "${cur}"))
                    return 0
                    ;;
                --without)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --each)
                    COMPREPLY=($(compgen -W "node zone class" -- "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --feature-gates)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --request-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --args-order)
                    COMPREPLY=($(compgen -W "default accelerator-first hierarchy" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__render)
            opts="-f -k -R -n -A -l -o -v -q -h --filename --presets --kustomize --kustomize-command --overlays --follow-outside --recursive --namespace --all-namespaces --selector --builtin --no-builtin --semantics --release --kthena-profile --deployment-mode --model-configs --hf-cache --model-facts --device-tolerations --partial --config --no-config --exclude --in --max-file-size --max-depth --max-nodes --max-files --jobs --strict --output --check --diff --force --kustomization --layout --pass-through --stage --annotate --argocd-waves --workload --expand --v2-probes --cluster-domain --protocol --feature-gates --strict-preferred --allow-unknown --request-size --strict-cost --args-order --dedupe-args --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --presets)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -k)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize-command)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --overlays)
                    COMPREPLY=($(compgen -W "auto never" -- "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --selector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -l)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --builtin)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --no-builtin)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --semantics)
                    COMPREPLY=($(compgen -W "documented controller" -- "${cur}"))
                    return 0
                    ;;
                --release)
                    COMPREPLY=($(compgen -W "kserve=v0.19.0 kserve=v0.20.0 kserve=head kserve=odh kthena=v0.1.0 kthena=v0.4.0 kthena=v1.0.0 kthena=head kubernetes=1.35 kubernetes=1.36 kubernetes=1.37 lws=v0.7.0 lws=v0.8.0 lws=v0.9.0 lws=v0.10.0 ome=v0.1.3 ome=v0.1.4 ome=v0.1.5 ome=17b77eda ome=v1.1.0 ome=v1.2.0 ome=v1.2.2 ome=head" -- "${cur}"))
                    return 0
                    ;;
                --kthena-profile)
                    COMPREPLY=($(compgen -W "v0.1 v1.0 head" -- "${cur}"))
                    return 0
                    ;;
                --deployment-mode)
                    COMPREPLY=($(compgen -W "RawDeployment Serverless Standard Knative" -- "${cur}"))
                    return 0
                    ;;
                --model-configs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hf-cache)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model-facts)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --device-tolerations)
                    COMPREPLY=($(compgen -W "assume never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exclude)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --max-file-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-files)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --check)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --layout)
                    COMPREPLY=($(compgen -W "single namespace" -- "${cur}"))
                    return 0
                    ;;
                --pass-through)
                    COMPREPLY=($(compgen -W "foreign all" -- "${cur}"))
                    return 0
                    ;;
                --stage)
                    COMPREPLY=($(compgen -W "objects merged" -- "${cur}"))
                    return 0
                    ;;
                --workload)
                    COMPREPLY=($(compgen -W "auto deployment lws modelserving" -- "${cur}"))
                    return 0
                    ;;
                --cluster-domain)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --feature-gates)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --request-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --args-order)
                    COMPREPLY=($(compgen -W "default accelerator-first hierarchy" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__rollout)
            opts="-f -k -R -n -A -l -o -v -q -h --filename --presets --kustomize --kustomize-command --overlays --follow-outside --recursive --namespace --all-namespaces --selector --builtin --no-builtin --semantics --release --kthena-profile --deployment-mode --model-configs --hf-cache --model-facts --device-tolerations --partial --config --no-config --exclude --in --max-file-size --max-depth --max-nodes --max-files --jobs --strict --all --base --from --fail --stuck --slow --pending --stagger --steps --output --protocol --feature-gates --strict-preferred --allow-unknown --request-size --strict-cost --args-order --dedupe-args --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --presets)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -k)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize-command)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --overlays)
                    COMPREPLY=($(compgen -W "auto never" -- "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --selector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -l)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --builtin)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --no-builtin)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --semantics)
                    COMPREPLY=($(compgen -W "documented controller" -- "${cur}"))
                    return 0
                    ;;
                --release)
                    COMPREPLY=($(compgen -W "kserve=v0.19.0 kserve=v0.20.0 kserve=head kserve=odh kthena=v0.1.0 kthena=v0.4.0 kthena=v1.0.0 kthena=head kubernetes=1.35 kubernetes=1.36 kubernetes=1.37 lws=v0.7.0 lws=v0.8.0 lws=v0.9.0 lws=v0.10.0 ome=v0.1.3 ome=v0.1.4 ome=v0.1.5 ome=17b77eda ome=v1.1.0 ome=v1.2.0 ome=v1.2.2 ome=head" -- "${cur}"))
                    return 0
                    ;;
                --kthena-profile)
                    COMPREPLY=($(compgen -W "v0.1 v1.0 head" -- "${cur}"))
                    return 0
                    ;;
                --deployment-mode)
                    COMPREPLY=($(compgen -W "RawDeployment Serverless Standard Knative" -- "${cur}"))
                    return 0
                    ;;
                --model-configs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hf-cache)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model-facts)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --device-tolerations)
                    COMPREPLY=($(compgen -W "assume never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exclude)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --max-file-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-files)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --from)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --base)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fail)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --stuck)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --slow)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --pending)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json yaml markdown html" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json yaml markdown html" -- "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --feature-gates)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --request-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --args-order)
                    COMPREPLY=($(compgen -W "default accelerator-first hierarchy" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__schema)
            opts="-o -v -q -h --api-version --output --all --kustomize-openapi --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --api-version)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__test)
            opts="-f -k -R -n -A -l -o -v -q -h --filename --presets --kustomize --kustomize-command --overlays --follow-outside --recursive --namespace --all-namespaces --selector --builtin --no-builtin --semantics --release --kthena-profile --deployment-mode --model-configs --hf-cache --model-facts --device-tolerations --partial --config --no-config --exclude --in --max-file-size --max-depth --max-nodes --max-files --jobs --strict --format --output --record --protocol --feature-gates --strict-preferred --allow-unknown --request-size --strict-cost --args-order --dedupe-args --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --presets)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -k)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize-command)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --overlays)
                    COMPREPLY=($(compgen -W "auto never" -- "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --selector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -l)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --builtin)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --no-builtin)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --semantics)
                    COMPREPLY=($(compgen -W "documented controller" -- "${cur}"))
                    return 0
                    ;;
                --release)
                    COMPREPLY=($(compgen -W "kserve=v0.19.0 kserve=v0.20.0 kserve=head kserve=odh kthena=v0.1.0 kthena=v0.4.0 kthena=v1.0.0 kthena=head kubernetes=1.35 kubernetes=1.36 kubernetes=1.37 lws=v0.7.0 lws=v0.8.0 lws=v0.9.0 lws=v0.10.0 ome=v0.1.3 ome=v0.1.4 ome=v0.1.5 ome=17b77eda ome=v1.1.0 ome=v1.2.0 ome=v1.2.2 ome=head" -- "${cur}"))
                    return 0
                    ;;
                --kthena-profile)
                    COMPREPLY=($(compgen -W "v0.1 v1.0 head" -- "${cur}"))
                    return 0
                    ;;
                --deployment-mode)
                    COMPREPLY=($(compgen -W "RawDeployment Serverless Standard Knative" -- "${cur}"))
                    return 0
                    ;;
                --model-configs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hf-cache)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model-facts)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --device-tolerations)
                    COMPREPLY=($(compgen -W "assume never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exclude)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --max-file-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-files)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json github junit" -- "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "table json github junit" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json github junit" -- "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --feature-gates)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --request-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --args-order)
                    COMPREPLY=($(compgen -W "default accelerator-first hierarchy" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__validate)
            opts="-f -k -R -n -A -l -o -v -q -h --filename --presets --kustomize --kustomize-command --overlays --follow-outside --recursive --namespace --all-namespaces --selector --builtin --no-builtin --semantics --release --kthena-profile --deployment-mode --model-configs --hf-cache --model-facts --device-tolerations --partial --config --no-config --exclude --in --max-file-size --max-depth --max-nodes --max-files --jobs --strict --format --output --min-severity --rule --source --context --all --unused --unknown-products --baseline --update-baseline --fix --watch --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --presets)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -k)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize-command)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --overlays)
                    COMPREPLY=($(compgen -W "auto never" -- "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --selector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -l)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --builtin)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --no-builtin)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --semantics)
                    COMPREPLY=($(compgen -W "documented controller" -- "${cur}"))
                    return 0
                    ;;
                --release)
                    COMPREPLY=($(compgen -W "kserve=v0.19.0 kserve=v0.20.0 kserve=head kserve=odh kthena=v0.1.0 kthena=v0.4.0 kthena=v1.0.0 kthena=head kubernetes=1.35 kubernetes=1.36 kubernetes=1.37 lws=v0.7.0 lws=v0.8.0 lws=v0.9.0 lws=v0.10.0 ome=v0.1.3 ome=v0.1.4 ome=v0.1.5 ome=17b77eda ome=v1.1.0 ome=v1.2.0 ome=v1.2.2 ome=head" -- "${cur}"))
                    return 0
                    ;;
                --kthena-profile)
                    COMPREPLY=($(compgen -W "v0.1 v1.0 head" -- "${cur}"))
                    return 0
                    ;;
                --deployment-mode)
                    COMPREPLY=($(compgen -W "RawDeployment Serverless Standard Knative" -- "${cur}"))
                    return 0
                    ;;
                --model-configs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hf-cache)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model-facts)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --device-tolerations)
                    COMPREPLY=($(compgen -W "assume never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exclude)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --max-file-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-files)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "human json yaml markdown html sarif github junit gitlab rdjson" -- "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "human json yaml markdown html sarif github junit gitlab rdjson" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "human json yaml markdown html sarif github junit gitlab rdjson" -- "${cur}"))
                    return 0
                    ;;
                --min-severity)
                    COMPREPLY=($(compgen -W "info warning error" -- "${cur}"))
                    return 0
                    ;;
                --rule)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --source)
                    COMPREPLY=($(compgen -W "user builtin" -- "${cur}"))
                    return 0
                    ;;
                --context)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --baseline)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__version)
            opts="-o -v -q -h --output --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -W "table json yaml" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json yaml" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        ome__subcmd__why)
            opts="-f -k -R -n -A -l -o -v -q -h --filename --presets --kustomize --kustomize-command --overlays --follow-outside --recursive --namespace --all-namespaces --selector --builtin --no-builtin --semantics --release --kthena-profile --deployment-mode --model-configs --hf-cache --model-facts --device-tolerations --partial --config --no-config --exclude --in --max-file-size --max-depth --max-nodes --max-files --jobs --strict --output --workload --cluster-domain --protocol --feature-gates --strict-preferred --allow-unknown --request-size --strict-cost --args-order --dedupe-args --color --verbose --quiet --no-pager --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --filename)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --presets)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -k)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kustomize-command)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --overlays)
                    COMPREPLY=($(compgen -W "auto never" -- "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -n)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --selector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -l)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --builtin)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --no-builtin)
                    COMPREPLY=($(compgen -W "true false" -- "${cur}"))
                    return 0
                    ;;
                --semantics)
                    COMPREPLY=($(compgen -W "documented controller" -- "${cur}"))
                    return 0
                    ;;
                --release)
                    COMPREPLY=($(compgen -W "kserve=v0.19.0 kserve=v0.20.0 kserve=head kserve=odh kthena=v0.1.0 kthena=v0.4.0 kthena=v1.0.0 kthena=head kubernetes=1.35 kubernetes=1.36 kubernetes=1.37 lws=v0.7.0 lws=v0.8.0 lws=v0.9.0 lws=v0.10.0 ome=v0.1.3 ome=v0.1.4 ome=v0.1.5 ome=17b77eda ome=v1.1.0 ome=v1.2.0 ome=v1.2.2 ome=head" -- "${cur}"))
                    return 0
                    ;;
                --kthena-profile)
                    COMPREPLY=($(compgen -W "v0.1 v1.0 head" -- "${cur}"))
                    return 0
                    ;;
                --deployment-mode)
                    COMPREPLY=($(compgen -W "RawDeployment Serverless Standard Knative" -- "${cur}"))
                    return 0
                    ;;
                --model-configs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --hf-cache)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --model-facts)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --device-tolerations)
                    COMPREPLY=($(compgen -W "assume never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exclude)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --max-file-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-nodes)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-files)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -W "table json yaml" -- "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -W "table json yaml" -- "${cur}"))
                    return 0
                    ;;
                --workload)
                    COMPREPLY=($(compgen -W "auto deployment lws modelserving" -- "${cur}"))
                    return 0
                    ;;
                --cluster-domain)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --feature-gates)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --request-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --args-order)
                    COMPREPLY=($(compgen -W "default accelerator-first hierarchy" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
    esac
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _ome -o nosort -o bashdefault -o default ome
else
    complete -F _ome -o bashdefault -o default ome
fi
