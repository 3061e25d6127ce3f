/** The URL of a list with its filters. Empty ones are left out. */
export function listPath(path: string, filters: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== ''));
  return query.size === 0 ? path : `${path}?${query}`;
}
