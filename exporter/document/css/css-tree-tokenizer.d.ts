/** The package's types describe only its main entry, which loads a hundred files more. */
declare module 'css-tree/tokenizer' {
  export { tokenize, tokenTypes } from 'css-tree';
}
