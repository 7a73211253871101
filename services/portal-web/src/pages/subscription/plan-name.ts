/** `growth_plus` as `Growth plus`: plan names come from the operator's settings. */
export function planName(plan: string): string {
  const words = plan.replace(/[_-]+/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
