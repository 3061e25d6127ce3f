import { Tokenizer } from 'htmlparser2';
import { SpanBuilder, type SpannedText } from '../spanned-text.ts';
import type { AttributeLayer } from './scan-markup.ts';

/** Decodes an attribute value with entities, by the HTML rules for attributes. `raw` is the undecoded value. */
export function decodeAttribute(source: string, raw: SpannedText, layer: AttributeLayer): SpannedText {
  const quote = layer === '=' ? '' : layer;
  const before = `<a a=${quote}`;
  const shift = raw.start - before.length;
  const span = new SpanBuilder();
  span.begin(raw.start);
  const ignore = (): void => undefined;
  const tokenizer = new Tokenizer(
    { xmlMode: false, decodeEntities: true },
    {
      onattribdata: (start, end) => span.data(source, start + shift, end + shift),
      onattribentity: (codePoint) => span.entity(source, codePoint),
      onattribend: ignore,
      onattribname: ignore,
      oncdata: ignore,
      onclosetag: ignore,
      oncomment: ignore,
      ondeclaration: ignore,
      onend: ignore,
      onopentagend: ignore,
      onopentagname: ignore,
      onprocessinginstruction: ignore,
      onselfclosingtag: ignore,
      ontext: ignore,
      ontextentity: ignore,
    },
  );
  tokenizer.write(`${before}${raw.text}${quote}>`);
  tokenizer.end();
  return span.finish(raw.start + raw.text.length);
}
