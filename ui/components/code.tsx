import { visibleText } from '../visible-text.ts';
import { Icon } from './icon.tsx';

/** Long lines wrap. */
export function CodeBlock({ children }: { children: string }) {
  return (
    <pre class="code">
      <code>{visibleText(children, { multiline: true })}</code>
    </pre>
  );
}

/** A text to copy. The button appears with scripts; without, the text can be selected. `id` is unique on its page. */
export function CopyField({ id, label, value }: { id: string; label: string; value: string }) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="copy">
        <input id={id} class="mono" type="text" readOnly value={value} />
        <button class="button" type="button" data-variant="plain" data-copy={id} aria-label={`Copy: ${label}`}>
          <Icon name="copy" />
          Copy
        </button>
        <span class="copied" role="status" />
      </div>
    </div>
  );
}
