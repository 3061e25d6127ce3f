import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { Icon, type IconName } from './icon.tsx';
import { Message } from './message.tsx';
import { Text } from './text.tsx';

/** The name of the hidden field with a session's CSRF token. */
export const CSRF_FIELD = 'csrf';

/** The form that was sent and rejected, by its action: it returns with what was entered, and why. */
type Rejected = { action: string; entered: Readonly<Record<string, string>>; message: string };

export const RejectedForm = createContext<Rejected | undefined>(undefined);

/** What the fields of a rejected form show. */
type Returned = { entered: Readonly<Record<string, string>>; errors: Readonly<Record<string, string>> };

const ReturnedFields = createContext<Returned>({ entered: {}, errors: {} });

/**
 * Puts each part of a message at the field that it begins with: `days: expected a number`, `The domain is taken`. What
 * names no field is for the whole form.
 */
function placeErrors({ entered, message }: Rejected, hidden: object): { errors: Record<string, string>; rest: string } {
  const errors: Record<string, string> = {};
  const rest = message.split('; ').filter((part) => {
    const [, name = '', path = ''] = /^(?:The )?(\w+)((?:\.\w+)*: )?/.exec(part) ?? [];
    if (!Object.hasOwn(entered, name) || Object.hasOwn(hidden, name)) return true;
    errors[name] ??= path === '' ? part : part.slice(name.length + path.length);
    return false;
  });
  return { errors, rest: rest.join('; ') };
}

type FormProps = {
  action: string;
  /** Undefined: the form only reads, and is sent with GET unless it has its own token. */
  csrf?: string | undefined;
  method?: 'get' | 'post';
  /** Sent with the form. */
  fields?: Readonly<Record<string, string>> | undefined;
  /** One line of fields and a button. */
  inline?: boolean;
  children: ComponentChildren;
};

export function Form({ action, csrf, method, fields = {}, inline = false, children }: FormProps) {
  const hidden = { ...(csrf !== undefined && { [CSRF_FIELD]: csrf }), ...fields };
  const rejected = useContext(RejectedForm);
  const isReturned = csrf !== undefined && rejected?.action === action;
  const { errors, rest } = isReturned ? placeErrors(rejected, hidden) : { errors: {}, rest: '' };
  const form = (
    <form
      class={inline ? 'form inline' : 'form'}
      method={method ?? (csrf === undefined ? 'get' : 'post')}
      action={action}
    >
      {Object.entries(hidden).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      {children}
    </form>
  );
  if (!isReturned) return form;
  return (
    <ReturnedFields.Provider value={{ entered: rejected.entered, errors }}>
      {rest !== '' && (
        <Message kind="error">
          <Text>{rest}</Text>
        </Message>
      )}
      {form}
    </ReturnedFields.Provider>
  );
}

/** `danger` is for what can't be undone. */
type ButtonVariant = 'primary' | 'plain' | 'danger';

type ButtonProps = {
  children: string;
  variant?: ButtonVariant;
  icon?: IconName;
  /** What the button is for, if its text doesn't say it on its own, such as in a row of a table. */
  label?: string;
  name?: string;
  value?: string;
  disabled?: boolean;
  /** Sends the form there instead. */
  formAction?: string;
};

export function Button({ children, variant = 'plain', icon, label, ...rest }: ButtonProps) {
  return (
    <button class="button" type="submit" data-variant={variant} aria-label={label} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A link that looks like a button, such as to a page that asks for confirmation. */
export function ButtonLink({ href, children, variant = 'plain', icon, label }: ButtonProps & { href: string }) {
  return (
    <a class="button" href={href} data-variant={variant} aria-label={label}>
      {icon && <Icon name={icon} />}
      {children}
    </a>
  );
}

type ActionProps = ButtonProps & Pick<FormProps, 'action' | 'fields'> & { csrf: string };

/** A form that is one button. */
export function ActionButton({ action, csrf, fields, ...button }: ActionProps) {
  return (
    <Form action={action} csrf={csrf} fields={fields} inline>
      <Button {...button} />
    </Form>
  );
}

type FieldProps = {
  label: string;
  name: string;
  /** Unique on its page; needed if two forms have fields of this name. */
  id?: string;
  type?: 'text' | 'password' | 'email' | 'url' | 'search' | 'number' | 'date' | 'datetime-local';
  value?: string;
  hint?: string;
  /** Why the value was rejected. */
  error?: string | undefined;
  required?: boolean;
  autocomplete?: string;
  maxLength?: number;
  /** What the browser accepts; `title` explains it. */
  pattern?: string;
  title?: string;
  /** Names and tokens: no correction, no capital letter at the beginning. */
  isVerbatim?: boolean;
  /** More than one line. */
  rows?: number;
};

export function Field({ label, name, type = 'text', hint, rows, ...props }: FieldProps) {
  const { entered, errors } = useContext(ReturnedFields);
  const { value: first, error = errors[name], ...others } = props;
  const value = type === 'password' ? first : (entered[name] ?? first);
  const { id = `field-${name}`, autocomplete, isVerbatim, ...rest } = others;
  const describedBy = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  // A record, because the types of preact know each input by one literal type.
  const inputType: Record<string, string> = { type };
  const common = {
    id,
    name,
    'aria-describedby': describedBy === '' ? undefined : describedBy,
    'aria-invalid': error === undefined ? undefined : ('true' as const),
    ...(autocomplete !== undefined && { autocomplete }),
    ...(isVerbatim && { autocapitalize: 'none' as const, spellcheck: false }),
    ...rest,
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {rows === undefined ? (
        <input {...inputType} value={value} {...common} />
      ) : (
        <textarea rows={rows} {...common}>
          {value}
        </textarea>
      )}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}

type CheckboxProps = { label: string; name: string; value: string; hint?: string };

/** Unchecked at first. */
export function Checkbox({ label, hint, ...input }: CheckboxProps) {
  const { entered } = useContext(ReturnedFields);
  const id = `field-${input.name}`;
  return (
    <div class="field">
      <label for={id}>
        <input
          type="checkbox"
          id={id}
          aria-describedby={hint && `${id}-hint`}
          checked={entered[input.name] === input.value}
          {...input}
        />{' '}
        {label}
      </label>
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

type SelectProps = {
  label: string;
  /** Shows the label only to screen readers, such as in a row of a table. */
  isLabelHidden?: boolean;
  name: string;
  value?: string;
  options: readonly { value: string; label: string }[];
};

export function Select({ label, isLabelHidden = false, name, value: first, options }: SelectProps) {
  const { entered, errors } = useContext(ReturnedFields);
  const [value, error] = [entered[name] ?? first, errors[name]];
  // In each row of a table, the id would be the same.
  const id = isLabelHidden ? undefined : `field-${name}`;
  return (
    <div class="field">
      {id !== undefined && <label for={id}>{label}</label>}
      <select id={id} name={name} aria-label={isLabelHidden ? label : undefined}>
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={option.value === value}>
            {option.label}
          </option>
        ))}
      </select>
      {error && <p class="field-error">{error}</p>}
    </div>
  );
}
