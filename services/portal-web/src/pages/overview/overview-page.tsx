import { PageHeader } from "../../components/page-header";

export function Component() {
  return (
    <PageHeader
      title="Overview"
      description="What is set up, and what is left before your first live order."
    />
  );
}
