/** Thrown by a tool that can't do what the model asked. The message is told to the model, which goes on. */
export class ToolRefusal extends Error {
  override readonly name = 'ToolRefusal';
}
