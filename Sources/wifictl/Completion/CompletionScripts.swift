/// The shells' side of completion: each script asks `wifictl __complete` and shows what it answers.
enum CompletionScripts {
    private static let tool = CommandRegistry.toolName
    private static let question = CompletionRun.word

    /// Bash cuts words at colons and equals signs, which MACs and options have: the pieces are put together again, and what
    /// stands before the last of them is taken off the answers.
    static let bash = #"""
        # bash completion for \#(tool): source it, or put it into bash-completion's folder of completions.
        _\#(tool)() {
            local piece line files= quote= current= head i
            local -a words=() answers=()
            for ((i = 1; i <= COMP_CWORD; i++)); do
                piece="${COMP_WORDS[i]}"
                if ((${#words[@]} > 0)) && [[ $piece == [:=]* || ${words[-1]} == *[:=] ]]; then
                    words[-1]+="$piece"
                else
                    words+=("$piece")
                fi
            done
            current="${words[-1]}"
            case "$current" in
                [\"\']*) quote="${current:0:1}" current="${current:1}" words[-1]="$current" ;;
                *) current="${current//\\/}" words[-1]="$current" ;;
            esac
            head="${current%"${current##*[:=]}"}"
            while IFS= read -r line; do
                if [[ $line == :files ]]; then files=yes; continue; fi
                line="${line%%$'\t'*}"
                [[ -n $line ]] || continue
                line="${line#"$head"}"
                # %q guards commas too, which nothing but braces would take.
                if [[ -z $quote ]]; then printf -v line '%q' "$line"; line="${line//\\,/,}"; fi
                answers+=("$line")
            done < <("${COMP_WORDS[0]}" \#(question) "${words[@]}" 2>/dev/null)
            COMPREPLY=("${answers[@]}")
            if [[ ${answers[0]-} == *= ]]; then compopt -o nospace 2>/dev/null; fi
            if [[ -n $files ]]; then
                compopt -o filenames 2>/dev/null
                mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "${current#"$head"}")
            fi
        }
        complete -F _\#(tool) \#(tool)
        """#

    static let zsh = #"""
        #compdef \#(tool)
        # zsh completion for \#(tool): put it as _\#(tool) into a folder of $fpath, or source it behind compinit.
        _\#(tool)() {
            local line files current
            local -a answers before open
            # Behind an open quote the letters are what they are.
            [[ -n $compstate[quote] ]] && current="$PREFIX" || current="${(Q)PREFIX}"
            (( CURRENT > 2 )) && before=("${(@Q)words[2,CURRENT-1]}")
            for line in "${(@f)$("${(Q)words[1]}" \#(question) "${before[@]}" "$current" 2>/dev/null)}"; do
                case "$line" in
                    '') ;;
                    :files) files=yes ;;
                    *=) open+=("$line") ;;
                    *$'\t'*) answers+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
                    *) answers+=("${line//:/\\:}") ;;
                esac
            done
            local status_=1
            (( $#answers )) && _describe '\#(tool)' answers && status_=0
            (( $#open )) && compadd -S '' -a open && status_=0
            [[ -n $files ]] && _files && status_=0
            return status_
        }
        if [[ $funcstack[1] == _\#(tool) ]]; then
            _\#(tool) "$@"
        else
            compdef _\#(tool) \#(tool)
        fi
        """#

    static let fish = #"""
        # fish completion for \#(tool): put it as \#(tool).fish into ~/.config/fish/completions.
        function __\#(tool)_complete
            set -l words (commandline -opc)
            set -l current (commandline -ct)
            # The token as it's written: a quote that is open has no end yet, and a blank may stand behind a backslash.
            switch "$current"
                case '"*' "'*"
                    set current (string sub -s 2 -- $current)
                case '*'
                    set current (string replace -a -r -- '\\\\(.)' '$1' "$current")
            end
            for line in ($words[1] \#(question) $words[2..-1] "$current" 2>/dev/null)
                if test "$line" = :files
                    __fish_complete_path (commandline -ct)
                else
                    printf '%s\n' $line
                end
            end
        end
        complete -c \#(tool) -f -k -a '(__\#(tool)_complete)'
        """#
}
