// The example agent. It is no artificial intelligence: it understands one kind of sentence,
//
//   Replace 'A' with 'B' in FILE
//
// as often as it stands in the prompt, with single or double quotes, and leaves everything else alone. It shows what
// Galley asks of an agent's command line: the prompt comes on standard input, the checkout is the current folder, exit
// code 0 means done and any other that the job has failed. It is 1 here if FILE can't be read, and 64 (EX_USAGE) if there
// is no such sentence in the prompt.
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import process from 'node:process';

// A text ends where ' with ' or ' in ' begins, so an apostrophe inside of it needs no marking.
const SENTENCE = /\bReplace (['"])(.+?)\1 with (['"])(.*?)\3 in (\S*[^\s.,;:!?])/gsu;

/** True for a file below the current folder, symbolic links followed, that isn't git's own. */
function isInside(file) {
  const [first] = relative(process.cwd(), realpathSync(resolve(file))).split(sep);
  return !['', '..', '.git'].includes(first);
}

function fail(reason) {
  process.exitCode = 1;
  return reason;
}

function replace(file, before, after) {
  let text;
  try {
    if (!isInside(file)) return fail('is not a file of this checkout');
    text = readFileSync(file, 'utf8');
  } catch {
    return fail('can not be read');
  }
  const parts = text.split(before);
  if (parts.length === 1) return 'does not have that text';
  writeFileSync(file, parts.join(after));
  return `changed in ${parts.length - 1} place${parts.length === 2 ? '' : 's'}`;
}

const prompt = readFileSync(process.stdin.fd, 'utf8');
const sentences = [...prompt.matchAll(SENTENCE)];
if (sentences.length === 0) {
  console.log("I only understand: Replace 'A' with 'B' in FILE");
  process.exitCode = 64;
}
for (const [, , before, , after, file] of sentences) console.log(`${file}: ${replace(file, before, after)}`);
