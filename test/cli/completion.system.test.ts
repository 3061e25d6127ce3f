import { execFile } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { locateRealTool } from '../helpers/real-tool.ts';
import { builtGalley } from '../helpers/system/built-product.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

const run = promisify(execFile);
const folder = emptiedFolder();

/** Each loads the script as its users do and prints the candidates for `galley sites pause ` and `galley doc`. */
const SHELLS = {
  bash: `source <(galley completion bash)
    compopt() { :; } # works only while a key is pressed
    candidates() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=\${#COMP_LINE}; COMPREPLY=(); __galley_complete; printf '%s\\n' "\${COMPREPLY[@]}"; }
    candidates galley sites pause ''
    candidates galley doc`,
  zsh: `autoload -Uz compinit && compinit -u -d ./zcompdump
    source <(galley completion zsh)
    [[ \${_comps[galley]} == _galley ]] && _describe() { print -rl -- \${\${(P)2}%%:*} }
    words=(galley sites pause ''); CURRENT=4; _galley
    words=(galley doc); CURRENT=2; _galley`,
  fish: `galley completion fish | source
    complete --do-complete 'galley sites pause '
    complete --do-complete 'galley doc'`,
} as const;

beforeEach(async () => {
  await writeFile(join(folder, 'galley.yaml'), 'sites: {handbook: {domain: docs.example.com}}\n');
  await writeFile(join(folder, 'galley'), `#!/bin/sh\nexec ${process.execPath} ${await builtGalley()} "$@"\n`);
  await chmod(join(folder, 'galley'), 0o755);
});

for (const [shell, script] of Object.entries(SHELLS)) {
  test(`${shell} completes commands and site names`, async () => {
    const program = await locateRealTool(shell);
    const env = { PATH: `${folder}:${process.env.PATH}`, HOME: folder, LANG: 'C.UTF-8' };
    const { stdout } = await run(program, ['-c', script], { cwd: folder, env });
    const words = stdout.split(/\s+/);
    expect(words).toContain('handbook');
    expect(words).toContain('doctor');
  });
}
