import { ActionButton } from './form.tsx';
import { Icon } from './icon.tsx';
import { Text } from './text.tsx';

type NavItem = { label: string; href: string; current?: boolean };

export type HeaderProps = {
  nav?: readonly NavItem[] | undefined;
  /** Who is signed in, with the link to their account, and the CSRF token to sign out. */
  account?: { name: string; href?: string; csrf?: string } | undefined;
};

/** The header of every page: the way to the start page, the pages, and who is signed in. */
export function Header({ nav = [], account }: HeaderProps) {
  return (
    <header class="header">
      <div class="wrap">
        <a class="home" href="/">
          <Logo />
          <span>Galley</span>
        </a>
        {nav.length > 0 && (
          <nav class="nav" aria-label="Main">
            {nav.map(({ label, href, current = false }) => (
              <a key={href} href={href} aria-current={current ? 'page' : undefined}>
                {label}
              </a>
            ))}
          </nav>
        )}
        {account !== undefined && <Account {...account} />}
      </div>
    </header>
  );
}

function Account({ name, href, csrf }: NonNullable<HeaderProps['account']>) {
  const who = [<Icon key="icon" name="user" />, <Text key="name">{name}</Text>];
  return (
    <div class="account">
      {href === undefined ? (
        <span class="account-name">{who}</span>
      ) : (
        <a class="account-name" href={href}>
          {who}
        </a>
      )}
      {csrf !== undefined && (
        <ActionButton action="/ui/sign-out" csrf={csrf}>
          Sign out
        </ActionButton>
      )}
    </div>
  );
}

/** Galley's sign beside its name. */
function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" />
      <path d="M8 10h16M8 16h10M8 22h13" />
      <circle cx="23.5" cy="16" r="2.2" />
    </svg>
  );
}
