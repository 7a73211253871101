import DefaultTheme from "vitepress/theme-without-fonts";
import Languages from "./Languages.vue";
import { showTarget } from "./languages.mjs";
import "./style.css";

export default {
  extends: DefaultTheme,
  enhanceApp({ app, router }) {
    app.component("Languages", Languages);
    if (import.meta.env.SSR) return;
    addEventListener("hashchange", showTarget);
    router.onAfterRouteChange = () => requestAnimationFrame(showTarget);
  },
};
