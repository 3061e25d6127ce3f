/** Thrown if a document can't be read safely. It is exported as it is, and the report has the message. */
export class UnreadableDocument extends Error {
  override readonly name = 'UnreadableDocument';
}
