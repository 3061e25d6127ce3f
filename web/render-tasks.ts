// What a thread of `renderBounded` can do.
export { renderParts } from '../ui/foreign/render-parts.tsx';

export function begin(): void {}
