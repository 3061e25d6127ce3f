import { RELAY_PROGRAM } from './relay.ts';

/**
 * The shell script around an agent: makes the checkout, starts the agent, kills what it left running and stores the
 * tree. In the sandbox it is process 1, which nothing inside can kill. It reports on descriptor 3, one line each:
 * `ready`, `exit CODE`, then `unchanged`, `changed TREE BYTES` followed by the pack, `failed WHY`, or `broken WHY` if
 * the agent was never started.
 * Arguments: scratch folder, collecting folder, git objects to start from, commit, Node's program if there
 * is a proxy or an empty word, then the agent's words.
 */
const COMMON = `
S=$1 C=$2 O=$3 commit=$4 node=$5; shift 5
agent_path=$PATH
PATH=/usr/local/bin:/usr/bin:/bin:$PATH
say() { printf '%s\\n' "$*" >&3; }
# Blocks or inodes that are used up. Some file systems count no inodes at all.
full() {
  set -- $(stat -f -c '%a %c %d' "$1" 2>/dev/null) 16 0 0
  [ "$1" -lt 16 ] || { [ "$2" -gt 0 ] && [ "$3" -eq 0 ]; }
}
why() { grep -m 1 -E '^(error|fatal|warning: could not open)' "$1" 2>/dev/null | sed 's/^[a-z]*: //' | tr -d '[:cntrl:]' | cut -c 1-300; }
# No variable, file or hook but these decides what git does.
g() {
  env -i PATH="$PATH" HOME="$C" LC_ALL=C GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_ATTR_NOSYSTEM=1 \\
    GIT_TERMINAL_PROMPT=0 git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.excludesFile=/dev/null \\
    -c core.attributesFile=/dev/null -c core.autocrlf=false -c core.fileMode=true -c core.symlinks=true \\
    -c core.ignoreCase=false -c core.protectHFS=true -c core.protectNTFS=true -c core.bigFileThreshold=16m "$@"
}
format=sha1; [ \${#commit} = 64 ] && format=sha256
# A git folder over the objects that are there. Attributes are switched off: a file's bytes are what is stored.
over_objects() {
  mkdir -p "$1/objects/info" "$1/info" &&
    printf '%s\\n' "$O" > "$1/objects/info/alternates" &&
    printf '%s\\n' '* -text -ident -filter -working-tree-encoding' > "$1/info/attributes" &&
    if [ -f "$O/../shallow" ]; then cp "$O/../shallow" "$1/shallow"; fi
}
`;

const PREPARE = `
make_checkout() {
  mkdir -p "$S/checkout" "$S/home" "$S/tmp" &&
    g init -q --template= --object-format=$format --initial-branch=galley "$S/checkout" &&
    over_objects "$S/checkout/.git" &&
    g -C "$S/checkout" config user.name 'Galley agent' &&
    g -C "$S/checkout" config user.email 'agent@galley.invalid' &&
    g -C "$S/checkout" config gc.auto 0 &&
    g -C "$S/checkout" checkout -q -B galley "$commit"
}
prepare() {
  mkdir -p "$C"
  make_checkout 2>"$C/log" || {
    if full "$S"; then say failed full; else say broken "$(why "$C/log")"; fi
    exit 0
  }
}
`;

const RUN = `
# Where there is a proxy: a port of this namespace that leads to it. Returns once the port is open.
open_relay() {
  [ -n "$node" ] || return 0
  proxy_port=$(env -i "$node" -e '${RELAY_PROGRAM}' 2>/dev/null 3>&- 4>&- 5>&- &)
  [ -n "$proxy_port" ] || { say broken "the way to the agent's proxy could not be opened"; exit 0; }
}
# Programs differ in which of these they read; Node's own fetch needs the last.
name_proxy() {
  HTTP_PROXY=http://127.0.0.1:$proxy_port NO_PROXY=localhost,127.0.0.1,::1 NODE_USE_ENV_PROXY=1
  HTTPS_PROXY=$HTTP_PROXY http_proxy=$HTTP_PROXY https_proxy=$HTTP_PROXY no_proxy=$NO_PROXY
  export HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy NODE_USE_ENV_PROXY
}
run() {
  open_relay
  say ready
  cd "$S/checkout"
  (
    # No core files among the changes, and if the worker isn't root, a limit on processes. Shells differ in the option.
    ulimit -c 0
    { ulimit -u 4096 || ulimit -p 4096; } 2>/dev/null
    PATH=$agent_path; export PATH; unset OLDPWD
    [ -z "$node" ] || name_proxy
    exec "$@"
  ) 2>&1 3>&- 4>&- 5>&-
  code=$?
  cd /
}
`;

const SETTLE = `
# Only as process 1 of its own namespace: anywhere else this would end every process of the user.
settle() {
  [ $$ = 1 ] || exit 1
  tries=0
  while :; do
    kill -s KILL -- -1 2>/dev/null
    alive=
    for process in /proc/[0-9]*; do
      [ "$process" = /proc/1 ] && continue
      { read -r line < "$process/stat"; } 2>/dev/null || continue
      case \${line##*) } in Z*|X*) ;; *) alive=yes ;; esac
    done
    [ -z "$alive" ] && return
    tries=$((tries + 1))
    [ $tries -gt 200 ] && { say failed processes; exit 0; }
    sleep 0.05
  done
}
`;

const COLLECT = `
c() { g --git-dir="$C/git/.git" --work-tree="$S/checkout" "$@"; }
# Submodules stay as they are: git would ask each of them with the configuration in it.
keep_submodules() {
  c ls-files -s | sed -n 's/^160000 [0-9a-f]* 0\t//p' | while IFS= read -r path; do
    rm -rf "./$path" && c update-index --skip-worktree -- "$path" || exit 1
  done
}
store() {
  find . -type d ! -perm -0700 -exec chmod u+rwx {} \\; &&
    find . -type f ! -perm -0400 -exec chmod u+r {} + &&
    find . -name .git -prune -exec rm -rf {} + &&
    g init -q --template= --object-format=$format "$C/git" && over_objects "$C/git/.git" &&
    c read-tree "$commit" && keep_submodules && c add -A -- . &&
    tree=$(c write-tree) && base=$(c rev-parse --verify "$commit^{tree}") || return 1
  # A folder that git can't read is a warning to git, and would be a lost folder here.
  ! grep -q '^warning: could not open directory' "$C/log" || return 1
  [ "$tree" = "$base" ] && return 0
  printf '%s\\n^%s\\n' "$tree" "$base" | c pack-objects --revs --stdout -q --threads=1 > "$C/pack"
}
collect() {
  mkdir -p "$C" && chmod u+rwx "$S" "$C"
  [ -d "$S/checkout" ] && [ ! -L "$S/checkout" ] || { say failed gone; return; }
  find "$C" -mindepth 1 -delete
  chmod u+rwx "$S/checkout" && cd "$S/checkout" || { say failed gone; return; }
  store 2>"$C/log" || {
    if full "$C"; then say failed large; else say failed tree "$(why "$C/log")"; fi
    return
  }
  if [ "$tree" = "$base" ]; then say unchanged; return; fi
  say changed "$tree" $(wc -c < "$C/pack")
  cat "$C/pack" >&3
}
`;

/** Does everything in one sandbox, from the checkout to the stored tree. */
export const SANDBOX_SCRIPT = `${COMMON}${PREPARE}${RUN}${SETTLE}${COLLECT}
prepare
run "$@"
settle
say exit $code
full "$S" && { say failed full; exit 0; }
[ $code = 0 ] && collect
exit 0
`;

/** The first half without a sandbox: runs the agent. The caller kills what the agent left running. */
export const PLAIN_RUN_SCRIPT = `${COMMON}${PREPARE}${RUN}
prepare
run "$@"
say exit $code
`;

/** The second half without a sandbox: stores the tree, after all its writers have ended. */
export const PLAIN_COLLECT_SCRIPT = `${COMMON}${COLLECT}
full "$S" && { say failed full; exit 0; }
collect
`;
