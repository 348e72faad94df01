import { bootstrapApplication } from '@angular/platform-browser';
import { Files } from './files';

bootstrapApplication(Files).catch(console.error);
