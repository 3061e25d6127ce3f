import type OpenAI from 'openai';
import { z } from 'zod';
import type { CheckoutFiles } from './checkout-files.ts';
import { ToolRefusal } from './tool-refusal.ts';

type ToolDefinition = OpenAI.Chat.Completions.ChatCompletionFunctionTool;

type Tool = {
  definition: ToolDefinition;
  /** Validates the arguments and runs the tool. */
  call: (input: unknown) => Promise<string>;
};

export type Tools = {
  definitions: ToolDefinition[];
  /**
   * Runs a tool call of the model; arguments are its raw text.
   * @throws ToolRefusal for an unknown tool, bad arguments and what a tool can't do.
   */
  call: (name: string, written: string) => Promise<string>;
};

const file = z.string().min(1).describe("Path of a file, relative to the repository's root");
const folder = z
  .string()
  .describe("Path of a folder, relative to the repository's root; the root without it")
  .optional();

/** The model's tools. `runCheck` exists only if the project has a check. */
export function createTools(files: CheckoutFiles, runCheck: (() => Promise<string>) | undefined): Tools {
  const tools = [
    tool('list_files', 'Lists the files below a folder.', z.strictObject({ folder }), (input) =>
      files.list(input.folder ?? '.'),
    ),
    tool('read_file', 'Reads a text file.', z.strictObject({ file }), (input) => files.read(input.file)),
    tool(
      'search',
      'Finds the lines that hold a text, letter by letter, in the text files below a folder.',
      z.strictObject({ text: z.string().min(1), folder }),
      (input) => files.search(input.text, input.folder ?? '.'),
    ),
    tool(
      'replace_in_file',
      'Replaces a text that occurs exactly once in a file. Better than write_file for a small change.',
      z.strictObject({ file, before: z.string().min(1), after: z.string() }),
      (input) => files.replace(input.file, input.before, input.after),
    ),
    tool(
      'write_file',
      'Writes a whole file, new or instead of what it was. Folders are made.',
      z.strictObject({ file, content: z.string() }),
      (input) => files.write(input.file, input.content),
    ),
    tool('delete_file', 'Deletes a file.', z.strictObject({ file }), (input) => files.remove(input.file)),
    ...(runCheck === undefined
      ? []
      : [
          tool(
            'run_check',
            "Runs the project's own check on a copy of the files. Answers with its exit code and the end of its output.",
            z.strictObject({}),
            runCheck,
          ),
        ]),
  ];
  const byName = new Map(tools.map((each) => [each.definition.function.name, each]));
  return {
    definitions: tools.map((each) => each.definition),
    call: async (name, written) => {
      const found = byName.get(name);
      if (found === undefined)
        throw new ToolRefusal(`there is no tool ${name}; there are ${[...byName.keys()].join(', ')}`);
      return await found.call(parseJson(written));
    },
  };
}

function tool<T extends z.ZodType>(
  name: string,
  description: string,
  input: T,
  run: (input: z.infer<T>) => Promise<string>,
): Tool {
  const { $schema: _, ...parameters } = z.toJSONSchema(input, { target: 'draft-7' });
  return {
    definition: { type: 'function', function: { name, description, parameters } },
    call: async (given) => {
      const checked = input.safeParse(given);
      if (!checked.success) throw new ToolRefusal(`bad arguments: ${z.prettifyError(checked.error)}`);
      return await run(checked.data);
    },
  };
}

function parseJson(written: string): unknown {
  try {
    // Some models send nothing if there are no arguments.
    return written.trim() === '' ? {} : JSON.parse(written);
  } catch {
    throw new ToolRefusal("bad arguments: they aren't JSON");
  }
}
