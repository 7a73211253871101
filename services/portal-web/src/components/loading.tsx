import { Skeleton, type SkeletonProps } from "@mantine/core";

/** A placeholder that screen readers name. Only an element with a role can have a name. */
export function Loading({ what, ...skeleton }: SkeletonProps & { what: string }) {
  return <Skeleton role="status" aria-label={what} {...skeleton} />;
}
