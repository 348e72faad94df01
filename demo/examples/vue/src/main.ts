import 'secure-uploader/define';
import 'secure-uploader/vue';
import { createApp } from 'vue';
import App from './App.vue';

createApp(App).mount('#app');
