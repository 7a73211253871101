import { useQuery } from "@tanstack/react-query";
import { version } from "../../package.json";
import { answer, api } from "./client";
import { docsUrl, useConfig } from "./config";

/** The addresses of the packages for integrators. They have the version of the service; null for one that it is not known to serve. */
export interface ClientPackages {
  npm: string | null;
  python: string | null;
}

/** The addresses, and the list of what the service serves. */
export function useClientPackages() {
  const config = useConfig();
  const list = useQuery({
    queryKey: ["packages"],
    queryFn: () => answer(api.GET("/v1/portal/packages")),
    staleTime: Number.POSITIVE_INFINITY,
    // What shows the error uses this query too, and must not load it again by appearing.
    retryOnMount: false,
  });
  const address = (name: string) =>
    list.isPending || list.data?.data.includes(name) ? `${docsUrl(config, "downloads")}/${name}` : null;
  const packages: ClientPackages = {
    npm: address(`waybill-client-${version}.tgz`),
    python: address(`waybill-${version}-py3-none-any.whl`),
  };
  return { packages, list };
}
