// The example agent. It is not an AI: it is a script that handles only sentences of the form
//
//   Replace 'A' with 'B' in FILE
//
// with single or double quotes, any number of them per prompt, and ignores all other text. It shows what Galley expects
// of an agent command: the prompt arrives on standard input, the current folder is the checkout, exit code 0 means
// success, and any other exit code means failure. This script exits with 1 if FILE can't be read, and with 64 (EX_USAGE)
// if the prompt contains no such sentence.
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import process from 'node:process';

// A quoted text ends before ' with ' or ' in ', so an apostrophe inside it needs no escaping.
const SENTENCE = /\bReplace (['"])(.+?)\1 with (['"])(.*?)\3 in (\S*[^\s.,;:!?])/gsu;

/** True if the file, after following symbolic links, is below the current folder and outside `.git`. */
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
