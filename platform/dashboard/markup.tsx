import type { Html } from '../api/forge/html.ts';

/** Markup that the forge's template tag made: its values are escaped. */
export function Markup({ children }: { children: Html }) {
  return <div dangerouslySetInnerHTML={{ __html: children.markup }} />;
}
