/** Thrown by a tool that can't do what the model asked. The model gets the message and continues. */
export class ToolRefusal extends Error {
  override readonly name = 'ToolRefusal';
}
