import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const PAGE = 'docs/operate/kubernetes.md';

/** A fenced block of the page: a shell script, or a file whose first line is a comment with its name. */
type Block = { language: string; text: string };

/** The scripts of a page's way from an empty cluster, in their order. Writes the files that they name into `folder`. */
export async function scriptsOfPage(folder: string): Promise<string[]> {
  const page = await readFile(PAGE, 'utf8');
  const blocks = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', text = '']): Block => ({ language, text }),
  );
  await symlink(join(process.cwd(), 'deploy'), join(folder, 'deploy'));
  for (const { text } of blocks.filter(({ language }) => language === 'yaml')) {
    const [, name] = /^# (\S+)\n/.exec(text) ?? [];
    if (name === undefined) throw new Error(`${PAGE}: expected the file's name in the first line of:\n${text}`);
    await writeFile(join(folder, name), text);
  }
  return blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
}
