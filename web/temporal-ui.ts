/** The URL of a workflow in Temporal's UI. */
export function workflowUrl(temporalUiUrl: string, namespace: string, workflowId: string): string {
  const base = temporalUiUrl.replace(/\/+$/, '');
  return `${base}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(workflowId)}`;
}
