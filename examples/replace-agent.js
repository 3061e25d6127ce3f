// The example agent. It is no artificial intelligence: it understands one kind of sentence,
//
//   Replace 'A' with 'B' in FILE
//
// as often as it stands in the prompt, and leaves everything else alone. It shows what Galley asks of an agent's
// command line: the prompt comes on standard input, the checkout is the current folder, exit code 0 means done.
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import process from 'node:process';

// A text ends where ' with ' or ' in ' begins, so an apostrophe inside of it needs no marking.
const SENTENCE = /\bReplace '(.+?)' with '(.*?)' in (\S*[^\s.,;:!?])/gsu;

/** True for a file below the current folder, symbolic links followed. */
function isInside(file) {
  const path = relative(process.cwd(), realpathSync(resolve(file)));
  return path !== '' && !path.startsWith('..');
}

function replace(file, before, after) {
  let text;
  try {
    if (!isInside(file)) return 'is not a file of this checkout';
    text = readFileSync(file, 'utf8');
  } catch {
    return 'can not be read';
  }
  const parts = text.split(before);
  if (parts.length === 1) return 'does not have that text';
  writeFileSync(file, parts.join(after));
  return `changed in ${parts.length - 1} place${parts.length === 2 ? '' : 's'}`;
}

const prompt = readFileSync(process.stdin.fd, 'utf8');
const sentences = [...prompt.matchAll(SENTENCE)];
if (sentences.length === 0) console.log("I only understand: Replace 'A' with 'B' in FILE");
for (const [, before, after, file] of sentences) console.log(`${file}: ${replace(file, before, after)}`);
