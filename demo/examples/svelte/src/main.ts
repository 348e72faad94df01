import 'secure-uploader/define';
import 'secure-uploader/svelte';
import { mount } from 'svelte';
import App from './App.svelte';

mount(App, { target: document.body });
