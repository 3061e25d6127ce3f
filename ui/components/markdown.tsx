import { Foreign } from '../foreign/foreign.tsx';
import { LongText } from './text.tsx';

/** Markdown that people and agents wrote. */
export function Markdown({ children }: { children: string }) {
  return <Foreign part={{ kind: 'markdown', text: children }} plain={<LongText>{children}</LongText>} />;
}
